import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { usePermission } from "../../api/permissions.ts";
import { useAllPages } from "../../api/use-all-pages.ts";
import { versionsQuery, workflowsQuery } from "../../api/workflows.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { Choice, Field } from "../../parts/controls/Field.tsx";
import { fromLocal, toLocal } from "../../parts/words/local-time.ts";
import { texts } from "../../texts/texts.ts";
import "./JobFilterBar.css";
import type { JobSearch } from "./job-search.ts";

interface JobFilterBarProps {
  readonly organizationId: string;
  readonly search: JobSearch;
  readonly onChange: (search: JobSearch) => void;
}

export function JobFilterBar({ organizationId, search, onChange }: JobFilterBarProps) {
  const words = texts.jobs;
  const [typedEvent, setTypedEvent] = useTyped(search.awaitingEventId ?? "", (awaitingEventId) =>
    set({ awaitingEventId }),
  );
  const set = (change: { readonly [Name in keyof JobSearch]?: JobSearch[Name] | undefined }) =>
    onChange(withoutEmpty({ ...search, ...change }));
  const hasFilters = Object.keys(search).length > 0 || typedEvent !== "";
  const clear = () => {
    setTypedEvent("");
    onChange({});
  };
  return (
    <form className="job-filters" aria-label={words.filters} onSubmit={(event) => event.preventDefault()}>
      <Choice
        label={words.status}
        value={search.isWaiting === true ? "WAITING" : (search.status ?? "")}
        onChange={(event) => set(statusFilter(event.target.value))}
      >
        <option value="">{words.anyStatus}</option>
        {(["PENDING", "RUNNING", "WAITING", "SUCCEEDED", "FAILED", "CANCELLED"] as const).map((status) => (
          <option key={status} value={status}>
            {texts.status[status]}
          </option>
        ))}
      </Choice>
      <WorkflowChoice organizationId={organizationId} search={search} onChange={set} />
      {search.workflowId !== undefined && (
        <VersionChoice organizationId={organizationId} search={search} workflowId={search.workflowId} onChange={set} />
      )}
      <Field
        label={words.submittedFrom}
        type="datetime-local"
        value={toLocal(search.createdAfter)}
        onChange={(event) => set({ createdAfter: fromLocal(event.target.value) })}
      />
      <Field
        label={words.submittedUntil}
        type="datetime-local"
        value={toLocal(search.createdBefore)}
        onChange={(event) => set({ createdBefore: fromLocal(event.target.value) })}
      />
      <Field
        label={words.event}
        value={typedEvent}
        onChange={(event) => setTypedEvent(event.target.value)}
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
      />
      <Choice
        label={words.order}
        value={search.order ?? "newest"}
        onChange={(event) => set({ order: event.target.value === "oldest" ? "oldest" : undefined })}
      >
        <option value="newest">{words.newest}</option>
        <option value="oldest">{words.oldest}</option>
      </Choice>
      <Button kind="quiet" icon="cross" disabled={!hasFilters} onClick={clear}>
        {words.clear}
      </Button>
    </form>
  );
}

interface PartProps {
  readonly organizationId: string;
  readonly search: JobSearch;
  readonly onChange: (change: { workflowId?: string | undefined; versionId?: string | undefined }) => void;
}

function WorkflowChoice({ organizationId, search: { workflowId }, onChange }: PartProps) {
  const words = texts.jobs;
  const mayRead = usePermission(organizationId, "workflow:read");
  const query = useInfiniteQuery({ ...workflowsQuery(organizationId), enabled: mayRead });
  useAllPages(query);
  const workflows = query.data?.pages.flatMap((page) => page.workflows) ?? [];
  const isKnown = workflowId === undefined || workflows.some((workflow) => workflow.workflowId === workflowId);
  return (
    <Choice
      label={words.workflow}
      value={workflowId ?? ""}
      onChange={(event) => onChange({ workflowId: event.target.value, versionId: undefined })}
    >
      <option value="">{words.anyWorkflow}</option>
      {!isKnown && <option value={workflowId}>{words.thisWorkflow}</option>}
      {workflows.map((workflow) => (
        <option key={workflow.workflowId} value={workflow.workflowId}>
          {workflow.name}
        </option>
      ))}
    </Choice>
  );
}

function VersionChoice({
  organizationId,
  workflowId,
  search: { versionId },
  onChange,
}: PartProps & { workflowId: string }) {
  const words = texts.jobs;
  const mayRead = usePermission(organizationId, "workflow:version:read");
  const query = useInfiniteQuery({ ...versionsQuery({ organizationId, workflowId }), enabled: mayRead });
  useAllPages(query);
  const versions = query.data?.pages.flatMap((page) => page.versions) ?? [];
  const isKnown = versionId === undefined || versions.some((version) => version.versionId === versionId);
  return (
    <Choice
      label={words.version}
      value={versionId ?? ""}
      onChange={(event) => onChange({ versionId: event.target.value })}
    >
      <option value="">{words.anyVersion}</option>
      {!isKnown && <option value={versionId}>{words.thisVersion}</option>}
      {versions.map((version) => (
        <option key={version.versionId} value={version.versionId}>
          {texts.workflow.versionNumber(version.versionNumber)}
        </option>
      ))}
    </Choice>
  );
}

const typingPauseMs = 400;

/** Keeps a text while it is typed. The text becomes the value when the user has stopped typing. */
function useTyped(value: string, onChange: (value: string) => void): [text: string, setText: (text: string) => void] {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    // A value that this field itself has passed on does not replace the text, because the user may have typed more since then.
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => {
      sent.current = text;
      onChange(text);
    }, typingPauseMs);
    return () => clearTimeout(timer);
  });
  return [text, setText];
}

type Change = { readonly [Name in keyof JobSearch]?: JobSearch[Name] | undefined };

function statusFilter(chosen: string): Change {
  if (chosen === "WAITING") return { status: "RUNNING", isWaiting: true };
  return { status: (chosen || undefined) as JobSearch["status"], isWaiting: undefined };
}

function withoutEmpty(search: Change): JobSearch {
  return Object.fromEntries(
    Object.entries(search).filter(([, value]) => value !== undefined && value !== ""),
  ) as JobSearch;
}
