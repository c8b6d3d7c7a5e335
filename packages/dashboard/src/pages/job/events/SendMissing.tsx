import { useMemo } from "react";
import type { JobKey, Wait } from "../../../api/job.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { payloadFieldOf } from "../../../submit/schema-field.ts";
import { texts } from "../../../texts/texts.ts";
import { PayloadForm } from "./PayloadForm.tsx";
import { useSendEvent } from "./use-send-event.ts";

interface SendMissingProps {
  readonly jobKey: JobKey;
  readonly wait: Wait;
  /** The branch that contains the wait, in words; empty for the main line. */
  readonly where: string;
  readonly missing: readonly string[];
  /** The definition's text; undefined while it is not known. */
  readonly definition: string | undefined;
  readonly onWithPayload: (eventId: string) => void;
}

/** Shows a form for each missing event if the definition says what its payload may be, and a button otherwise. */
export function SendMissing({ jobKey, wait, where, missing, definition, onWithPayload }: SendMissingProps) {
  const { step } = wait;
  const fields = useMemo(
    () => new Map(missing.map((eventId) => [eventId, definition && payloadFieldOf(definition, step, eventId)])),
    [missing, definition, step],
  );
  const plain = missing.filter((eventId) => !fields.get(eventId));
  return (
    <>
      {where !== "" && <p className="soft">{texts.job.sendsFor(step, where)}</p>}
      {missing.map((eventId) => {
        const field = fields.get(eventId);
        return field && <PayloadForm key={eventId} jobKey={jobKey} wait={wait} eventId={eventId} field={field} />;
      })}
      {plain.length > 0 && <SendButtons jobKey={jobKey} wait={wait} eventIds={plain} onWithPayload={onWithPayload} />}
    </>
  );
}

interface SendButtonsProps extends Pick<SendMissingProps, "jobKey" | "wait" | "onWithPayload"> {
  readonly eventIds: readonly string[];
}

function SendButtons({ jobKey, wait, eventIds, onWithPayload }: SendButtonsProps) {
  const words = texts.job;
  const send = useSendEvent(jobKey);
  return (
    <>
      <div className="row">
        {eventIds.map((eventId) => (
          <span key={eventId} className="row">
            <Button
              kind="main"
              icon="send"
              isBusy={send.isPending && send.variables.eventId === eventId}
              onClick={() => send.mutate({ eventId, ...wait })}
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
