import type { JobKey, WholeJob } from "../../api/job.ts";
import { baseUrl } from "../../base-url.ts";
import { Button } from "../../parts/Button.tsx";
import { Menu, MenuItem } from "../../parts/Menu.tsx";
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
  return (
    <Menu
      trigger={
        <Button kind="quiet" icon="copy">
          {words.curl}
        </Button>
      }
    >
      <MenuItem onSelect={() => void copy(path)}>{words.curlJob}</MenuItem>
      <MenuItem onSelect={() => void copy(`${path}/explain`)}>{words.curlExplain}</MenuItem>
      <MenuItem onSelect={() => void copy(`/organizations/${jobKey.organizationId}/jobs`, resubmission(job))}>
        {words.curlSubmit}
      </MenuItem>
      {missing.slice(0, 5).map((eventId) => (
        <MenuItem key={eventId} onSelect={() => void copy(`${path}/events`, { eventId })}>
          {words.curlEvent(eventId)}
        </MenuItem>
      ))}
    </Menu>
  );
}
