import { useMemo, useState } from "react";
import { flushSync } from "react-dom";
import type { Submission } from "../api/job.ts";
import { Button } from "../parts/controls/Button.tsx";
import { TextArea } from "../parts/controls/Field.tsx";
import { focusProblem, useProblemFocus } from "../parts/controls/focus-problem.ts";
import { Segments } from "../parts/controls/Segments.tsx";
import { jsonProblemOf } from "../parts/data/json-problem.ts";
import { Problem } from "../parts/states/Problem.tsx";
import { texts } from "../texts/texts.ts";
import { type Draft, type DraftProblem, emptyDraft, jsonDraft, problemsOf, textOfDraft, Unfinished } from "./draft.ts";
import { SchemaInput } from "./SchemaInput.tsx";
import { inputFieldOf, type SchemaField } from "./schema-field.ts";
import { shownProblems } from "./shown-problems.ts";

interface SubmitFormProps {
  readonly definition: string;
  /** The input to begin with. If it is undefined, the form begins with `emptyDraft`, which has the defaults of the schema. */
  readonly input: unknown;
  readonly error: Error | null;
  readonly isBusy: boolean;
  readonly onClose: () => void;
  readonly onSubmit: (input: Submission["inputJson"]) => void;
}

const modes = [
  ["form", texts.submit.form],
  ["json", texts.submit.json],
] as const;

const anything: SchemaField = { kind: "json", label: "", isRequired: true };

/**
 * The input of a job. It is shown as JSON if its schema allows no form or the user prefers JSON, and otherwise as a form. What was typed stays when
 * the definition changes.
 */
export function SubmitForm({ definition, input, error, isBusy, onClose, onSubmit }: SubmitFormProps) {
  const words = texts.submit;
  const field = useMemo(() => inputFieldOf(definition) ?? anything, [definition]);
  const hasForm = field.kind === "object" || field.kind === "union";
  const [mode, setMode] = useState<"form" | "json">("form");
  const [typed, setTyped] = useState<{ readonly draft: Draft } | undefined>();
  const [isTried, setTried] = useState(false);
  const draft = typed === undefined ? (input ?? emptyDraft(field)) : typed.draft;
  const isJson = mode === "json" || !hasForm;
  const problems = isJson ? wholeProblem(draft) : problemsOf(field, field.kind === "object" ? (draft ?? {}) : draft);
  const canChange = !isJson || wholeProblem(draft).length === 0;
  const form = useProblemFocus(isBusy);
  return (
    <form
      ref={form}
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        flushSync(() => setTried(true));
        if (problems.length === 0) onSubmit((draft ?? {}) as Submission["inputJson"]);
        else focusProblem(form.current);
      }}
    >
      {hasForm && (
        <Segments
          label={words.inputAs}
          value={mode}
          choices={modes}
          onChoose={(chosen) => (chosen === "json" || canChange) && setMode(chosen)}
        />
      )}
      {isJson ? (
        <JsonInput
          draft={draft}
          problem={problemText(problems[0], draft)}
          onChange={(changed) => {
            // Typed JSON stays JSON, even if the next definition has a form.
            setMode("json");
            setTyped({ draft: changed });
          }}
        />
      ) : (
        <SchemaInput
          field={field}
          draft={draft}
          onChange={(changed) => setTyped({ draft: changed })}
          pointer=""
          problems={shownProblems({ problems, isTried, error, pointer: "/inputJson" })}
        />
      )}
      {error !== null && <Problem error={error} />}
      <div className="dialog-actions">
        <Button onClick={onClose} disabled={isBusy}>
          {texts.parts.cancel}
        </Button>
        <Button type="submit" kind="main" icon="job" isBusy={isBusy}>
          {words.action}
        </Button>
      </div>
    </form>
  );
}

interface JsonInputProps {
  readonly draft: Draft;
  readonly problem: string | undefined;
  readonly onChange: (draft: Draft) => void;
}

/** The text stays as it is typed. */
function JsonInput({ draft, problem, onChange }: JsonInputProps) {
  const words = texts.submit;
  const [text, setText] = useState<string | undefined>();
  const change = (typed: string) => {
    setText(typed);
    onChange(jsonDraft(typed));
  };
  return (
    <TextArea
      label={words.jsonInput}
      hint={words.jsonHint}
      problem={problem}
      value={text ?? textOfDraft(draft)}
      onChange={(event) => change(event.target.value)}
      rows={10}
      spellCheck={false}
    />
  );
}

function wholeProblem(draft: Draft): DraftProblem[] {
  const isObject = draft === undefined || (typeof draft === "object" && draft !== null && !Array.isArray(draft));
  return isObject && !(draft instanceof Unfinished)
    ? []
    : [{ pointer: "", kind: "unfinished", text: textOfDraft(draft) }];
}

function problemText(problem: DraftProblem | undefined, draft: Draft): string | undefined {
  if (problem === undefined) return undefined;
  return draft instanceof Unfinished ? jsonProblemOf(draft.text) : texts.submit.notObject;
}
