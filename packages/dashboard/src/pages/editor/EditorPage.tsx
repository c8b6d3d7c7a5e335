import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { versionQuery, versionsQuery, type Workflow, workflowQuery } from "../../api/workflows.ts";
import { Problem } from "../../parts/Problem.tsx";
import { Skeleton } from "../../parts/Skeleton.tsx";
import { Editing } from "./Editing.tsx";
import { readable, sampleFor } from "./sample.ts";

const from = "/app/organizations/$organizationId/workflows/$workflowId/edit";

/** The definition of a workflow's next version: begun from the version in the address, else from the newest, else from a sample. */
export function EditorPage() {
  const key = useParams({ from });
  const { data: workflow, error } = useQuery(workflowQuery(key));
  const { data, error: versionsError } = useInfiniteQuery(versionsQuery(key));
  const { versionId } = useSearch({ from });
  const problem = error ?? versionsError;
  if (problem !== null) return <Problem error={problem} />;
  if (workflow === undefined || data === undefined) return <Skeleton rows={12} />;
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
  // A version that is registered here becomes the newest, but what is being edited stays where it is.
  const [baseId] = useState(firstBaseId);
  const key = { organizationId, workflowId: workflow.workflowId };
  const { data: base, error } = useQuery({ ...versionQuery(key, baseId ?? ""), enabled: baseId !== undefined });
  if (error !== null) return <Problem error={error} />;
  if (baseId !== undefined && base === undefined) return <Skeleton rows={12} />;
  return (
    <Editing
      workflow={key}
      name={workflow.name}
      baseNumber={base?.versionNumber}
      initialText={base === undefined ? sampleFor(workflow.name) : readable(base.definition)}
    />
  );
}
