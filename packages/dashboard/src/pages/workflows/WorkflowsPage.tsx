import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { usePermission } from "../../api/permissions.ts";
import { type Workflow, workflowsQuery } from "../../api/workflows.ts";
import { EmptyState } from "../../parts/EmptyState.tsx";
import { Field } from "../../parts/Field.tsx";
import { deploySample } from "../../parts/first-commands.ts";
import { morePages } from "../../parts/more-pages.ts";
import { PageHeading } from "../../parts/PageHeading.tsx";
import { Panel } from "../../parts/Panel.tsx";
import { Problem } from "../../parts/Problem.tsx";
import { Skeleton } from "../../parts/Skeleton.tsx";
import { type Column, Table } from "../../parts/Table.tsx";
import { TagChip } from "../../parts/TagChip.tsx";
import { Time } from "../../parts/Time.tsx";
import { texts } from "../../texts/texts.ts";
import { NewWorkflow } from "./NewWorkflow.tsx";
import "./WorkflowsPage.css";

/** The organization's workflows with their tags. */
export function WorkflowsPage() {
  const { organizationId } = useParams({ from: "/app/organizations/$organizationId" });
  const query = useInfiniteQuery(workflowsQuery(organizationId));
  const { data, error, refetch, hasNextPage } = query;
  const [sought, setSought] = useState("");
  const all = data?.pages.flatMap((page) => page.workflows);
  const found = all?.filter(({ name }) => name.toLowerCase().includes(sought.trim().toLowerCase()));
  const mayCreate = usePermission(organizationId, "workflow:create");
  const words = texts.workflows;
  return (
    <>
      <PageHeading title={words.title} actions={mayCreate && <NewWorkflow organizationId={organizationId} />} />
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {all === undefined && error === null && <Skeleton rows={6} />}
      {all?.length === 0 && (
        <Panel title={words.emptyTitle} isFlush>
          <EmptyState text={words.empty} command={deploySample} />
        </Panel>
      )}
      {found !== undefined && all !== undefined && all.length > 0 && (
        <Panel
          title={words.title}
          isFlush
          actions={
            <div className="workflow-search">
              <Field
                label={words.search}
                type="search"
                placeholder={words.searchPlaceholder}
                value={sought}
                onChange={(event) => setSought(event.target.value)}
              />
            </div>
          }
        >
          {found.length === 0 && !hasNextPage && <EmptyState title={words.noneFound} text={words.noneFoundText} />}
          {(found.length > 0 || hasNextPage) && (
            <Table
              caption={words.caption}
              columns={columnsFor(organizationId)}
              rows={found}
              rowKey={({ workflowId }) => workflowId}
              more={morePages(query)}
            />
          )}
        </Panel>
      )}
    </>
  );
}

function columnsFor(organizationId: string): Column<Workflow>[] {
  const words = texts.workflows;
  return [
    {
      id: "name",
      header: words.name,
      width: "40%",
      cell: ({ workflowId, name }) => (
        <Link to="/app/organizations/$organizationId/workflows/$workflowId" params={{ organizationId, workflowId }}>
          {name}
        </Link>
      ),
    },
    {
      id: "tags",
      header: words.tags,
      cell: ({ tags }) =>
        tags.map(({ tag, versionNumber }) => <TagChip key={tag} tag={tag} versionNumber={versionNumber} />),
    },
    {
      id: "created",
      header: words.created,
      width: "22%",
      align: "end",
      isOptional: true,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
  ];
}
