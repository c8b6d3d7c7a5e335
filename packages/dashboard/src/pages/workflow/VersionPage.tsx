import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { usePermission } from "../../api/permissions.ts";
import { versionQuery, workflowQuery } from "../../api/workflows.ts";
import { descriptionOfText, stepsOfText } from "../../graph/graph-step.ts";
import { StepGraph } from "../../graph/StepGraph.tsx";
import { CopyButton } from "../../parts/controls/CopyButton.tsx";
import { readable } from "../../parts/data/readable-definition.ts";
import { PageHeading } from "../../parts/layout/PageHeading.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { PageProblem } from "../../parts/states/PageProblem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { ActorName } from "../../parts/words/ActorName.tsx";
import { TagChip } from "../../parts/words/TagChip.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import { EditLink } from "./EditLink.tsx";
import "./VersionPage.css";

/** One version: its author, its tags, and its definition, which can be copied as it was sent. */
export function VersionPage() {
  const { versionId, ...workflow } = useParams({
    from: "/app/organizations/$organizationId/workflows/$workflowId/versions/$versionId",
  });
  const words = texts.workflow;
  const { data: version, error, refetch } = useQuery(versionQuery(workflow, versionId));
  const mayEdit = usePermission(workflow.organizationId, "workflow:version:create");
  const steps = useMemo(() => stepsOfText(version?.definition ?? "") ?? [], [version]);
  const description = useMemo(() => descriptionOfText(version?.definition ?? ""), [version]);
  const { data: parent } = useQuery(workflowQuery(workflow));
  if (version === undefined) {
    return error === null ? <Skeleton rows={8} /> : <PageProblem error={error} onRetry={() => void refetch()} />;
  }
  const { versionNumber, tags, createdAt, createdBy, definition } = version;
  return (
    <>
      <PageHeading
        title={words.versionNumber(versionNumber)}
        docs="version"
        tab={[words.versionNumber(versionNumber), parent?.name]}
        beside={tags.map((tag) => <TagChip key={tag} tag={tag} />)}
        actions={mayEdit && <EditLink workflow={workflow} versionId={versionId} />}
      />
      <p className="soft">
        <Link to="/app/organizations/$organizationId/workflows/$workflowId" params={workflow}>
          {parent?.name ?? texts.workflows.title}
        </Link>
        {" · "}
        {words.registered} <Time at={createdAt} /> (
        <ActorName organizationId={workflow.organizationId} actor={createdBy} />)
      </p>
      {description !== undefined && <p className="version-description">{description}</p>}
      <Panel title={texts.editor.graph} isFlush>
        <StepGraph steps={steps} />
      </Panel>
      <Panel title={words.definition} isFlush actions={<CopyButton text={definition} label={words.copyDefinition} />}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
        <pre className="definition" tabIndex={0}>
          {readable(definition)}
        </pre>
      </Panel>
    </>
  );
}
