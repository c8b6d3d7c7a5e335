import { useState } from "react";
import { flushSync } from "react-dom";
import type { JobKey, Wait } from "../../../api/job.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { focusProblem, useProblemFocus } from "../../../parts/controls/focus-problem.ts";
import { Problem } from "../../../parts/states/Problem.tsx";
import { type Draft, problemsOf } from "../../../submit/draft.ts";
import { SchemaInput } from "../../../submit/SchemaInput.tsx";
import type { SchemaField } from "../../../submit/schema-field.ts";
import { shownProblems } from "../../../submit/shown-problems.ts";
import { texts } from "../../../texts/texts.ts";
import { useSendEvent } from "./use-send-event.ts";

interface PayloadFormProps {
  readonly jobKey: JobKey;
  readonly wait: Wait;
  readonly eventId: string;
  readonly field: SchemaField;
}

/** A small form, made from the schema of an event's payload, that sends the event for this wait. */
export function PayloadForm({ jobKey, wait, eventId, field }: PayloadFormProps) {
  const words = texts.job;
  const [draft, setDraft] = useState<Draft>(() => defaultsOf(field));
  const [isTried, setTried] = useState(false);
  const send = useSendEvent(jobKey);
  const isEmpty = draft === undefined || Object.keys(draft as object).length === 0;
  const problems = isEmpty ? [] : problemsOf(field, draft);
  const form = useProblemFocus(send.isPending);
  return (
    <form
      ref={form}
      className="stack payload-form"
      aria-label={words.payloadOf(eventId)}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        flushSync(() => setTried(true));
        // An event may also have no payload. If the definition requires one, the service reports the missing parts.
        if (problems.length === 0) send.mutate({ eventId, ...wait, ...(!isEmpty && { payload: draft }) });
        else focusProblem(form.current);
      }}
    >
      <SchemaInput
        field={field}
        draft={draft}
        onChange={setDraft}
        pointer=""
        problems={shownProblems({ problems, isTried, error: send.error, pointer: "/payload" })}
      />
      {send.error !== null && <Problem error={send.error} />}
      <div>
        <Button type="submit" kind="main" icon="send" isBusy={send.isPending}>
          {words.send(eventId)}
        </Button>
      </div>
    </form>
  );
}

/** Fills in only the fields for which the schema has a default. For the other fields a person must choose, and cannot just accept a suggestion. */
function defaultsOf({ fields = [] }: SchemaField): Draft {
  return Object.fromEntries(
    fields.flatMap((one) => (one.default === undefined ? [] : [[one.name, one.default] as const])),
  );
}
