import { type FormEvent, useId } from "react";
import { Button } from "../../../parts/controls/Button.tsx";
import { Choice, Field } from "../../../parts/controls/Field.tsx";
import { Panel } from "../../../parts/layout/Panel.tsx";
import { texts } from "../../../texts/texts.ts";
import { type AuditSearch, parseAuditSearch, targetTypes } from "./audit-search.ts";
import "./AuditFilterForm.css";

interface AuditFilterFormProps {
  readonly search: AuditSearch;
  readonly onChange: (search: AuditSearch) => void;
}

/** The filters of the list, as in the address. Changes take effect when the form is submitted. */
export function AuditFilterForm({ search, onChange }: AuditFilterFormProps) {
  const words = texts.audit;
  const listId = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = Object.fromEntries(new FormData(event.currentTarget));
    onChange(parseAuditSearch({ ...typed, after: utc(typed.after), before: utc(typed.before) }));
  };
  return (
    <Panel title={words.filters}>
      {/* With this key, another address gets a new form. */}
      <form key={JSON.stringify(search)} className="audit-filters" onSubmit={submit}>
        <Field name="action" label={words.action} defaultValue={search.action} list={listId} spellCheck={false} />
        <datalist id={listId}>
          {actions.map((action) => (
            <option key={action} value={action} />
          ))}
        </datalist>
        <Choice name="outcome" label={words.outcome} defaultValue={search.outcome ?? ""}>
          <option value="">{words.anyOutcome}</option>
          <option value="accepted">{words.outcomes.accepted}</option>
          <option value="denied">{words.outcomes.denied}</option>
        </Choice>
        <Choice name="targetType" label={words.targetType} defaultValue={search.targetType ?? ""}>
          <option value="">{words.anyTarget}</option>
          {targetTypes.map((type) => (
            <option key={type} value={type}>
              {words.targets[type]}
            </option>
          ))}
        </Choice>
        <Field name="targetId" label={words.targetId} defaultValue={search.targetId} spellCheck={false} />
        <Field name="actorId" label={words.actorId} defaultValue={search.actorId} spellCheck={false} />
        <Field name="after" label={words.after} type="datetime-local" step={1} defaultValue={local(search.after)} />
        <Field name="before" label={words.before} type="datetime-local" step={1} defaultValue={local(search.before)} />
        <div className="row">
          <Button type="submit" kind="main" icon="filter">
            {words.filter}
          </Button>
          <Button kind="quiet" onClick={() => onChange({})}>
            {words.clear}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

/** The operations that people search for most. Any other can be typed. */
const actions = [
  "UpdateOrganization",
  "UpdateOrganizationLimits",
  "CreateApiToken",
  "RevokeApiToken",
  "RotateApiToken",
  "UpdateApiToken",
  "CreateInvitation",
  "AcceptInvitation",
  "RevokeInvitation",
  "CreateOAuthClient",
  "ConsentToOAuthClient",
  "DeleteOAuthClient",
  "UpdateMember",
  "RemoveMember",
  "CreateRole",
  "UpdateRole",
  "DeleteRole",
  "RegisterWorkflow",
  "RegisterWorkflowVersion",
  "SetWorkflowVersionTag",
  "DeleteTag",
  "DeleteWorkflow",
  "CancelJob",
  "ResumeJob",
];

/** Converts the value of a time field, which is in the reader's time zone, to UTC. */
function utc(value: FormDataEntryValue | undefined): string | undefined {
  const time = typeof value === "string" && value !== "" ? new Date(value) : undefined;
  return time === undefined || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Converts a time to the value of a time field, in the reader's time zone. */
function local(value: string | undefined): string | undefined {
  const time = new Date(value ?? "");
  if (Number.isNaN(time.getTime())) return undefined;
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
