import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { morePages } from "../../api/more-pages.ts";
import { usePermission } from "../../api/permissions.ts";
import { type Workflow, workflowsQuery } from "../../api/workflows.ts";
import { Field } from "../../parts/controls/Field.tsx";
import { type Column, Table } from "../../parts/data/Table.tsx";
import { PageHeading } from "../../parts/layout/PageHeading.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { EmptyState } from "../../parts/states/EmptyState.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { deploySample } from "../../parts/words/first-commands.ts";
import { TagChip } from "../../parts/words/TagChip.tsx";
import { Time } from "../../parts/words/Time.tsx";
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
      <PageHeading
        title={words.title}
        docs="workflows"
        actions={mayCreate && <NewWorkflow organizationId={organizationId} />}
      />
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
