import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { usePermission } from "../../api/permissions.ts";
import { type TagChange, tagHistoryQuery } from "../../api/tag-history.ts";
import { workflowQuery } from "../../api/workflows.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { ListPanel } from "../../parts/data/ListPanel.tsx";
import type { Column } from "../../parts/data/Table.tsx";
import { PageHeading } from "../../parts/layout/PageHeading.tsx";
import { EmptyState } from "../../parts/states/EmptyState.tsx";
import { ActorName } from "../../parts/words/ActorName.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import { MoveTagDialog } from "./MoveTagDialog.tsx";

const address = "/app/organizations/$organizationId/workflows/$workflowId/tag-history";

/** The history of a tag: when it was moved, by whom, and between which versions. The tag can be moved back to an earlier version here. */
export function TagHistoryPage() {
  const workflow = useParams({ from: address });
  const { tag } = useSearch({ from: address });
  const words = texts.tagHistory;
  const { data } = useQuery(workflowQuery(workflow));
  const query = useInfiniteQuery(tagHistoryQuery(workflow, tag));
  const mayMove = usePermission(workflow.organizationId, "workflow:version:create");
  const [versionId, setVersionId] = useState<string | undefined>();
  const moves = movesOf(
    query.data?.pages.flatMap((page) => page.changes),
    query.hasNextPage,
  );
  return (
    <>
      <PageHeading title={words.title(tag)} docs="tagHistory" tab={[words.title(tag), data?.name]} />
      <p>
        <Link to="/app/organizations/$organizationId/workflows/$workflowId" params={workflow}>
          {words.backTo(data?.name)}
        </Link>
      </p>
      <ListPanel
        title={words.moves}
        caption={words.caption(tag)}
        query={query}
        rows={moves}
        rowKey={({ place }) => String(place)}
        columns={columnsFor(workflow.organizationId, tag, mayMove ? setVersionId : undefined)}
        empty={<EmptyState title={words.emptyTitle(tag)} text={words.empty} />}
      />
      {versionId !== undefined && (
        <MoveTagDialog workflow={workflow} move={{ tag, versionId }} onClose={() => setVersionId(undefined)} />
      )}
    </>
  );
}

interface Move extends TagChange {
  /** The place of the change, counted from the newest. */
  readonly place: number;
  /** The version at which the tag pointed before the change; undefined if there was none. */
  readonly from: number | undefined;
  /** The version at which the tag points now; undefined if there is none. */
  readonly current: number | undefined;
}

/**
 * A change has only the tag's new version; the old version is that of the previous change. So the oldest loaded change is left out until the change
 * before it is loaded.
 */
function movesOf(changes: readonly TagChange[] | undefined, hasMore: boolean): readonly Move[] | undefined {
  const current = changes?.[0]?.versionNumber;
  const moves = changes?.map((change, place) => ({
    ...change,
    place,
    from: changes[place + 1]?.versionNumber,
    current,
  }));
  return hasMore ? moves?.slice(0, -1) : moves;
}

function columnsFor(
  organizationId: string,
  tag: string,
  onMove: ((versionId: string) => void) | undefined,
): readonly Column<Move>[] {
  const words = texts.tagHistory;
  const columns: Column<Move>[] = [
    {
      id: "move",
      header: words.move,
      cell: ({ from, versionNumber }) => <strong>{words.fromTo(from, versionNumber)}</strong>,
    },
    { id: "when", header: words.when, cell: ({ changedAt }) => <Time at={changedAt} isRelative /> },
    {
      id: "by",
      header: words.by,
      isOptional: true,
      cell: ({ changedBy }) => <ActorName organizationId={organizationId} actor={changedBy} />,
    },
  ];
  if (onMove === undefined) return columns;
  const actions: Column<Move> = {
    id: "actions",
    header: texts.workflow.actions,
    align: "end",
    width: "124px",
    cell: ({ versionId, versionNumber, current }) =>
      versionId !== undefined &&
      versionNumber !== undefined &&
      versionNumber !== current && (
        <Button kind="quiet" aria-label={words.moveBackTo(tag, versionNumber)} onClick={() => onMove(versionId)}>
          {words.moveBack}
        </Button>
      ),
  };
  return [...columns, actions];
}
