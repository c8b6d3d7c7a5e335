import { useId, useState } from "react";
import type { JobKey, Wait } from "../../api/job.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { Field, TextArea } from "../../parts/controls/Field.tsx";
import { readJson } from "../../parts/data/read-json.ts";
import { Dialog } from "../../parts/dialogs/Dialog.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { texts } from "../../texts/texts.ts";
import { useSendEvent } from "./use-send-event.ts";

interface SendEventDialogProps {
  readonly jobKey: JobKey;
  /** The one to begin with. */
  readonly eventId: string;
  readonly suggestions: readonly string[];
  /** Sends the event for this wait alone; left out: for whichever step awaits it. */
  readonly wait?: Wait | undefined;
  readonly onClose: () => void;
}

/** Any event with any payload. */
export function SendEventDialog({ jobKey, eventId: firstId, suggestions, wait, onClose }: SendEventDialogProps) {
  const words = texts.job;
  const [eventId, setEventId] = useState(firstId);
  const [text, setText] = useState("");
  const listId = useId();
  const send = useSendEvent(jobKey, onClose);
  const payload = payloadOf(text);
  return (
    <Dialog isOpen onClose={onClose} title={words.sendTitle} description={words.sendText}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (payload !== undefined && eventId !== "")
            send.mutate({ eventId, ...(suggestions.includes(eventId) && wait), ...payload });
        }}
      >
        <Field
          label={words.eventId}
          hint={words.eventIdHint}
          value={eventId}
          onChange={(event) => setEventId(event.target.value)}
          list={listId}
          autoComplete="off"
          spellCheck={false}
          maxLength={256}
          required
        />
        <datalist id={listId}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
        <TextArea
          label={words.payload}
          hint={words.payloadHint}
          problem={payload === undefined ? words.payloadProblem : undefined}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="mono"
          spellCheck={false}
        />
        {send.error !== null && <Problem error={send.error} />}
        <div className="dialog-actions">
          <Button onClick={onClose}>{texts.parts.cancel}</Button>
          <Button type="submit" kind="main" icon="send" isBusy={send.isPending} disabled={payload === undefined}>
            {words.sendAction}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Undefined for what is no JSON. */
function payloadOf(text: string): { readonly payload?: unknown } | undefined {
  if (text.trim() === "") return {};
  const read = readJson(text);
  return read === undefined ? undefined : { payload: read.value };
}
