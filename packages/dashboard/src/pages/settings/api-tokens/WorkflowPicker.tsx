import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAllPages } from "../../../api/use-all-pages.ts";
import { workflowsQuery } from "../../../api/workflows.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { CheckBox } from "../../../parts/controls/CheckBox.tsx";
import { Field } from "../../../parts/controls/Field.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { Skeleton } from "../../../parts/states/Skeleton.tsx";
import { texts } from "../../../texts/texts.ts";
import "./WorkflowPicker.css";

interface WorkflowPickerProps {
  readonly organizationId: string;
  readonly value: readonly string[];
  readonly onChange: (value: readonly string[]) => void;
  readonly problem?: string | undefined;
}

/** If there are more workflows than this, the list has a search field. Fewer can be seen at a glance. */
const searchedCount = 8;

/** Check boxes for workflows. Those that are chosen are always shown. */
export function WorkflowPicker({ organizationId, value, onChange, problem }: WorkflowPickerProps) {
  const words = texts.apiTokens;
  const query = useInfiniteQuery(workflowsQuery(organizationId));
  useAllPages(query);
  const [sought, setSought] = useState("");
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  if (data === undefined) {
    return error === null ? <Skeleton rows={3} /> : <Problem error={error} onRetry={() => void refetch()} />;
  }
  const all = data.pages.flatMap((page) => page.workflows);
  const isSought = (name: string) => name.toLowerCase().includes(sought.trim().toLowerCase());
  const shown = all.filter(({ workflowId, name }) => value.includes(workflowId) || isSought(name));
  // These ids are in a part of the list that is not loaded, or belong to workflows that no longer exist.
  const unknown = value.filter((id) => !all.some(({ workflowId }) => workflowId === id));
  const choices = [...unknown.map((id) => ({ workflowId: id, name: id })), ...shown];
  return (
    <fieldset className="workflow-picker">
      <legend>{words.workflows}</legend>
      <p className="field-hint">{words.workflowsHint}</p>
      {problem !== undefined && (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      {(all.length > searchedCount || hasNextPage) && (
        <Field
          label={words.findWorkflow}
          type="search"
          value={sought}
          onChange={(event) => setSought(event.target.value)}
        />
      )}
      <div className="workflow-picker-list">
        {choices.length === 0 && <p className="soft">{words.noWorkflow}</p>}
        {choices.map(({ workflowId, name }) => (
          <CheckBox
            key={workflowId}
            label={name}
            checked={value.includes(workflowId)}
            onChange={(event) =>
              onChange(event.target.checked ? [...value, workflowId] : value.filter((one) => one !== workflowId))
            }
          />
        ))}
      </div>
      {hasNextPage && (
        <div>
          <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {texts.parts.loadMore}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
