import { useId, useRef, useState } from "react";
import type { JobKey, Wait } from "../../../api/job.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { Choice, Field, TextArea } from "../../../parts/controls/Field.tsx";
import { jsonProblemOf } from "../../../parts/data/json-problem.ts";
import { readJson } from "../../../parts/data/read-json.ts";
import { Dialog } from "../../../parts/dialogs/Dialog.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { texts } from "../../../texts/texts.ts";
import { runWords } from "../branch-words.ts";
import type { JobStory } from "../job-story.ts";
import { keyOfRun } from "../step-run.ts";
import type { MissingEvent } from "./missing-events.ts";
import { useSendEvent } from "./use-send-event.ts";

interface SendEventDialogProps {
  readonly jobKey: JobKey;
  /** The event id with which the dialog begins. */
  readonly eventId: string;
  readonly story: JobStory;
  /** The events for which the job waits. */
  readonly missing: readonly MissingEvent[];
  /**
   * The wait that is chosen at first. Without it, the first wait for the event is chosen if one of the waits is in a branch of a fork. Otherwise the
   * event is sent without a target: any step that lists its id may take it, now or later.
   */
  readonly wait?: Wait | undefined;
  readonly onClose: () => void;
}

/** Sends any event with any payload. */
export function SendEventDialog({ jobKey, eventId: firstId, story, onClose, ...now }: SendEventDialogProps) {
  const words = texts.job;
  const [wait] = useState(now.wait);
  const missing = useAllSoFar(now.missing);
  const [eventId, setEventId] = useState(firstId);
  const [text, setText] = useState("");
  const listId = useId();
  const send = useSendEvent(jobKey, onClose);
  const payload = payloadOf(text);
  const waits = missing.filter((one) => one.eventId === eventId).slice(0, maxWaits);
  const isInBranches = waits.some(({ branch }) => branch !== undefined);
  const [chosen, setChosen] = useState<string | undefined>();
  const given = wait && waits.find((one) => keyOf(one) === keyOf(wait));
  const first = given ?? (isInBranches ? waits[0] : undefined);
  const target = chosen === undefined ? first : waits.find((one) => keyOf(one) === chosen);
  return (
    <Dialog isOpen onClose={onClose} title={words.sendTitle} description={words.sendText} isBusy={send.isPending}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (payload !== undefined && eventId !== "") send.mutate({ eventId, ...target, ...payload });
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
          {[...new Set(missing.map((one) => one.eventId))].map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
        {isInBranches && (
          <Choice
            label={words.sendFor}
            hint={words.sendForHint}
            value={target === undefined ? "" : keyOf(target)}
            onChange={(event) => setChosen(event.target.value)}
          >
            {waits.map((one) => (
              <option key={keyOf(one)} value={keyOf(one)}>
                {runWords(story, { name: one.step, visit: one.visit, branch: one.branch ?? "" })}
              </option>
            ))}
            <option value="">{words.sendForAny}</option>
          </Choice>
        )}
        <TextArea
          label={words.payload}
          hint={words.payloadHint}
          problem={payload === undefined ? jsonProblemOf(text) : undefined}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="mono"
          spellCheck={false}
        />
        {send.error !== null && <Problem error={send.error} />}
        <div className="dialog-actions">
          <Button onClick={onClose} disabled={send.isPending}>
            {texts.parts.cancel}
          </Button>
          <Button type="submit" kind="main" icon="send" isBusy={send.isPending} disabled={payload === undefined}>
            {words.sendAction}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/**
 * Keeps the waits that were shown: the job may continue while the dialog is open, and the event must not go to another branch than the one that was
 * shown. Adds new waits after them: until the history is loaded, the page knows only one wait.
 */
function useAllSoFar(missing: readonly MissingEvent[]): readonly MissingEvent[] {
  const known = useRef(new Map<string, MissingEvent>());
  for (const one of missing) {
    const key = JSON.stringify([keyOf(one), one.eventId]);
    if (!known.current.has(key)) known.current.set(key, one);
  }
  return [...known.current.values()];
}

/** Thousands of items may wait for one event. An event for a wait beyond this number can be sent only through the API. */
const maxWaits = 100;

function keyOf({ step, visit, branch = "" }: Wait): string {
  return keyOfRun({ step, visit, branch });
}

/** Reads the payload; undefined for a text that is not JSON. */
function payloadOf(text: string): { readonly payload?: unknown } | undefined {
  if (text.trim() === "") return {};
  const read = readJson(text);
  return read === undefined ? undefined : { payload: read.value };
}
