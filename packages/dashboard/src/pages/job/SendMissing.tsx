import type { JobKey } from "../../api/job.ts";
import { Button } from "../../parts/Button.tsx";
import { Problem } from "../../parts/Problem.tsx";
import { texts } from "../../texts/texts.ts";
import { useSendEvent } from "./use-send-event.ts";

interface SendMissingProps {
  readonly jobKey: JobKey;
  readonly missing: readonly string[];
  readonly onWithPayload: (eventId: string) => void;
}

/** A button for each event that is missing: one click sends it. */
export function SendMissing({ jobKey, missing, onWithPayload }: SendMissingProps) {
  const words = texts.job;
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
              // The second click of a double click would give the next visit of a loop its event too.
              onClick={({ detail }) => detail < 2 && send.mutate({ eventId })}
            >
              {words.send(eventId)}
            </Button>
            <Button kind="quiet" aria-label={words.sendWithPayload(eventId)} onClick={() => onWithPayload(eventId)}>
              {words.withPayload}
            </Button>
          </span>
        ))}
      </div>
      {send.error !== null && <Problem error={send.error} />}
    </>
  );
}
