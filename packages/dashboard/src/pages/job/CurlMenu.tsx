import type { JobKey, WholeJob } from "../../api/job.ts";
import { baseUrl } from "../../base-url.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { Menu } from "../../parts/controls/Menu.tsx";
import { toast } from "../../parts/toasts.ts";
import { shellWord } from "../../parts/words/shell-word.ts";
import { texts } from "../../texts/texts.ts";
import { branchWords } from "./branch-words.ts";
import { missingEventsOf } from "./events/missing-events.ts";
import type { JobStory } from "./job-story.ts";

interface CurlMenuProps {
  readonly jobKey: JobKey;
  readonly job: WholeJob;
  readonly story: JobStory;
}

export function CurlMenu({ jobKey, job, story }: CurlMenuProps) {
  const words = texts.job;
  const path = jobPath(jobKey);
  const copy = async (target: string, body?: unknown) => {
    try {
      await navigator.clipboard.writeText(curlOf(baseUrl, target, body));
      toast({ kind: "success", text: words.curlCopied });
    } catch {
      toast({ kind: "failure", text: texts.parts.copyFailed });
    }
  };
  const command = (content: string, target: string, body?: unknown) =>
    ({ kind: "command", content, run: () => void copy(target, body) }) as const;
  return (
    <Menu
      trigger={
        <Button kind="quiet" icon="copy">
          {words.curl}
        </Button>
      }
      entries={[
        command(words.curlJob, path),
        command(words.curlExplain, `${path}/explain`),
        command(words.curlSubmit, `/organizations/${jobKey.organizationId}/jobs`, resubmission(job)),
        ...missingEventsOf(story)
          .slice(0, 5)
          .map(({ eventId, step, visit, branch }) => {
            if (branch === undefined) return command(words.curlEvent(eventId), `${path}/events`, { eventId });
            // An event for a wait in a branch is sent only to that branch, because other branches may wait for the same id.
            const text = words.curlEventTo(eventId, branchWords(story, branch));
            return command(text, `${path}/events`, { eventId, step, visit, branch });
          }),
      ]}
    />
  );
}

/** Makes a curl command for a request. The command takes the token from STEPWELL_TOKEN, so it does not contain this page's own token. */
function curlOf(baseUrl: string, path: string, body?: unknown): string {
  const parts = [`curl -sS -H "Authorization: Bearer $STEPWELL_TOKEN"`];
  if (body !== undefined) parts.push(`-H 'Content-Type: application/json'`, `-d ${shellWord(JSON.stringify(body))}`);
  parts.push(shellWord(baseUrl + path));
  return parts.join(" \\\n  ");
}

function jobPath({ organizationId, jobId }: JobKey): string {
  return `/organizations/${organizationId}/jobs/${jobId}`;
}

/** Returns the body that submits a job like this one: with the tag that chose this job's version, or else with that version. */
function resubmission({ workflowId, workflowVersion, input }: WholeJob) {
  const { tag, versionId } = workflowVersion;
  return { workflowId, workflowVersion: tag === undefined ? { versionId } : { tag }, inputJson: input };
}
