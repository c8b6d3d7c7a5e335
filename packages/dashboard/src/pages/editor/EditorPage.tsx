import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { versionQuery, versionsQuery, type Workflow, workflowQuery } from "../../api/workflows.ts";
import { readable } from "../../parts/data/readable-definition.ts";
import { PageProblem } from "../../parts/states/PageProblem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { Editing } from "./Editing.tsx";
import { sampleFor } from "./sample.ts";

const from = "/app/organizations/$organizationId/workflows/$workflowId/edit";

/** The definition of a workflow's next version. It begins with the version in the address, or else with the newest, or else with a sample. */
export function EditorPage() {
  const key = useParams({ from });
  const { data: workflow, error, refetch } = useQuery(workflowQuery(key));
  const { data, error: versionsError, refetch: refetchVersions } = useInfiniteQuery(versionsQuery(key));
  const { versionId } = useSearch({ from });
  // An error is shown only while there is nothing to edit: a later refresh that fails must not remove the text.
  if (workflow === undefined || data === undefined) {
    const problem = error ?? versionsError;
    if (problem === null) return <Skeleton rows={12} />;
    return <PageProblem error={problem} onRetry={() => void (error === null ? refetchVersions() : refetch())} />;
  }
  const baseId = versionId ?? data.pages[0]?.versions[0]?.versionId;
  return (
    <Begun
      key={`${key.workflowId} ${versionId}`}
      organizationId={key.organizationId}
      workflow={workflow}
      baseId={baseId}
    />
  );
}

interface BegunProps {
  readonly organizationId: string;
  readonly workflow: Workflow;
  readonly baseId: string | undefined;
}

function Begun({ organizationId, workflow, baseId: firstBaseId }: BegunProps) {
  // A version that is registered here becomes the newest, but the text in the editor stays.
  const [baseId] = useState(firstBaseId);
  const key = { organizationId, workflowId: workflow.workflowId };
  const version = versionQuery(key, baseId ?? "");
  const { data: base, error, refetch } = useQuery({ ...version, enabled: baseId !== undefined });
  if (baseId !== undefined && base === undefined) {
    return error === null ? <Skeleton rows={12} /> : <PageProblem error={error} onRetry={() => void refetch()} />;
  }
  return (
    <Editing
      workflow={key}
      name={workflow.name}
      baseNumber={base?.versionNumber}
      initialText={base === undefined ? sampleFor(workflow.name) : readable(base.definition)}
    />
  );
}
