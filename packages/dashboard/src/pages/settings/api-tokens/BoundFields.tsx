import { Choice, Field } from "../../../parts/controls/Field.tsx";
import { texts } from "../../../texts/texts.ts";
import type { BoundKind, TokenDraft } from "./token-draft.ts";
import type { tokenProblems } from "./token-problems.ts";
import { WorkflowPicker } from "./WorkflowPicker.tsx";

interface BoundFieldsProps {
  readonly organizationId: string;
  readonly draft: TokenDraft;
  readonly onChange: (change: Partial<TokenDraft>) => void;
  readonly problems: ReturnType<typeof tokenProblems>;
  readonly isMissing: boolean;
}

/** The fields that restrict what the permissions of a token allow. */
export function BoundFields({ organizationId, draft, onChange, problems, isMissing }: BoundFieldsProps) {
  const words = texts.apiTokens;
  return (
    <>
      <Choice
        label={words.bound}
        hint={draft.bound === "event" ? words.eventHint : words.boundHint}
        value={draft.bound}
        onChange={(event) => onChange({ bound: event.target.value as BoundKind })}
      >
        {Object.entries(words.boundKinds).map(([kind, text]) => (
          <option key={kind} value={kind}>
            {text}
          </option>
        ))}
      </Choice>
      {draft.bound === "part" && (
        <>
          <WorkflowPicker
            organizationId={organizationId}
            value={draft.workflowIds}
            onChange={(workflowIds) => onChange({ workflowIds })}
            problem={isMissing ? words.chooseBound : problems.at("/boundTo/workflowIds")}
          />
          <Field
            label={words.tags}
            hint={words.tagsHint}
            value={draft.tags}
            onChange={(event) => onChange({ tags: event.target.value })}
            problem={problems.at("/boundTo/tags")}
            placeholder="$LIVE"
            autoComplete="off"
            spellCheck={false}
          />
        </>
      )}
      {draft.bound === "event" && (
        <>
          <Field
            label={words.jobId}
            value={draft.jobId}
            onChange={(event) => onChange({ jobId: event.target.value })}
            problem={problems.at("/boundTo/jobEvent/jobId")}
            required
            autoComplete="off"
            spellCheck={false}
          />
          <Field
            label={words.eventId}
            value={draft.eventId}
            onChange={(event) => onChange({ eventId: event.target.value })}
            problem={problems.at("/boundTo/jobEvent/eventId")}
            required
            autoComplete="off"
            spellCheck={false}
          />
        </>
      )}
    </>
  );
}
