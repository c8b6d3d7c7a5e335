import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { morePages } from "../../api/more-pages.ts";
import { type Version, versionsQuery, type WorkflowKey } from "../../api/workflows.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { type Column, Table } from "../../parts/data/Table.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { EmptyState } from "../../parts/states/EmptyState.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { ActorName } from "../../parts/words/ActorName.tsx";
import { deployFirst } from "../../parts/words/first-commands.ts";
import { TagChip } from "../../parts/words/TagChip.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import { type TagMove, tagMoveOf } from "./MoveTagDialog.tsx";

interface VersionsProps {
  readonly workflow: WorkflowKey;
  readonly name: string;
  /** Undefined for people who may not move tags. */
  readonly onTag: ((move: TagMove) => void) | undefined;
}

export function Versions({ workflow, name, onTag }: VersionsProps) {
  const words = texts.workflow;
  const query = useInfiniteQuery(versionsQuery(workflow));
  const { data, error, refetch, hasNextPage } = query;
  const versions = data?.pages.flatMap((page) => page.versions);
  return (
    <Panel title={words.versions} isFlush>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {versions === undefined && error === null && <Skeleton rows={3} />}
      {versions?.length === 0 && (
        <EmptyState title={words.noVersions} text={words.noVersionsText} command={deployFirst(name)} />
      )}
      {versions !== undefined && versions.length > 0 && (
        <Table
          caption={words.versionsCaption}
          columns={columnsFor(workflow, onTag)}
          rows={versions}
          rowKey={({ versionId }) => versionId}
          {...(hasNextPage && { more: morePages(query) })}
        />
      )}
    </Panel>
  );
}

function columnsFor(workflow: WorkflowKey, onTag: VersionsProps["onTag"]): readonly Column<Version>[] {
  const words = texts.workflow;
  const { organizationId } = workflow;
  const columns: Column<Version>[] = [
    {
      id: "version",
      header: words.version,
      cell: ({ versionId, versionNumber }) => (
        <Link
          to="/app/organizations/$organizationId/workflows/$workflowId/versions/$versionId"
          params={{ ...workflow, versionId }}
        >
          {words.versionNumber(versionNumber)}
        </Link>
      ),
    },
    {
      id: "tags",
      header: words.tags,
      cell: ({ tags }) => tags.map((tag) => <TagChip key={tag} tag={tag} />),
    },
    {
      id: "created",
      header: words.created,
      isOptional: true,
      cell: ({ createdAt, createdBy }) => (
        <>
          <Time at={createdAt} isRelative />, <ActorName organizationId={organizationId} actor={createdBy} />
        </>
      ),
    },
  ];
  if (onTag === undefined) return columns;
  const actions: Column<Version> = {
    id: "actions",
    header: words.actions,
    align: "end",
    width: "92px",
    cell: (version) => (
      <Button kind="quiet" aria-label={words.setTagOn(version.versionNumber)} onClick={() => onTag(tagMoveOf(version))}>
        {words.setTag}
      </Button>
    ),
  };
  return [...columns, actions];
}
