import { useState } from "react";
import type { JobKey } from "../../api/job.ts";
import { Button } from "../../parts/Button.tsx";
import { Problem } from "../../parts/Problem.tsx";
import { texts } from "../../texts/texts.ts";
import { SendEventDialog } from "./SendEventDialog.tsx";
import { useSendEvent } from "./use-send-event.ts";

interface SendMissingProps {
  readonly jobKey: JobKey;
  readonly missing: readonly string[];
}

/** A button for each event that is missing: one click sends it. */
export function SendMissing({ jobKey, missing }: SendMissingProps) {
  const words = texts.job;
  const [withPayload, setWithPayload] = useState<string | undefined>();
  const send = useSendEvent(jobKey);
  return (
    <>
      <div className="row">
        {missing.map((eventId) => (
          <span key={eventId} className="row">
            <Button
              kind="main"
              icon="send"
              isBusy={send.isPending && send.variables.eventId === eventId}
              onClick={() => send.mutate({ eventId })}
            >
              {words.send(eventId)}
            </Button>
            <Button kind="quiet" aria-label={words.sendWithPayload(eventId)} onClick={() => setWithPayload(eventId)}>
              {words.withPayload}
            </Button>
          </span>
        ))}
      </div>
      {send.error !== null && <Problem error={send.error} />}
      {withPayload !== undefined && (
        <SendEventDialog
          jobKey={jobKey}
          eventId={withPayload}
          suggestions={missing}
          onClose={() => setWithPayload(undefined)}
        />
      )}
    </>
  );
}
