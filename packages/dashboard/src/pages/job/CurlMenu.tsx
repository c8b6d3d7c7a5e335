import type { JobKey, WholeJob } from "../../api/job.ts";
import { baseUrl } from "../../base-url.ts";
import { Button } from "../../parts/Button.tsx";
import { Menu } from "../../parts/Menu.tsx";
import { toast } from "../../parts/toasts.ts";
import { texts } from "../../texts/texts.ts";
import { curlOf, jobPath, resubmission } from "./curl.ts";

interface CurlMenuProps {
  readonly jobKey: JobKey;
  readonly job: WholeJob;
  /** Events that the job waits for. */
  readonly missing: readonly string[];
}

export function CurlMenu({ jobKey, job, missing }: CurlMenuProps) {
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
        ...missing.slice(0, 5).map((eventId) => command(words.curlEvent(eventId), `${path}/events`, { eventId })),
      ]}
    />
  );
}
