import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { deleteTag, ifNew, ifStillAt, setTag, type Tag, tagsQuery, type WorkflowKey } from "../../api/workflows.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { type Column, Table } from "../../parts/data/Table.tsx";
import { ConfirmDialog } from "../../parts/dialogs/ConfirmDialog.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { EmptyState } from "../../parts/states/EmptyState.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { ActorName } from "../../parts/words/ActorName.tsx";
import { TagChip } from "../../parts/words/TagChip.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";
import type { TagMove } from "./MoveTagDialog.tsx";
import { useTagUndo } from "./use-tag-undo.ts";

interface TagsProps {
  readonly workflow: WorkflowKey;
  /** Undefined for people who may not move tags. */
  readonly onMove: ((move: TagMove) => void) | undefined;
}

export function Tags({ workflow, onMove }: TagsProps) {
  const words = texts.workflow;
  const { data: tags, error, refetch } = useQuery(tagsQuery(workflow));
  const [doomed, setDoomed] = useState<Tag | undefined>();
  return (
    <Panel
      title={words.tags}
      isFlush
      actions={
        onMove !== undefined && (
          <Button icon="plus" onClick={() => onMove({})}>
            {words.addTag}
          </Button>
        )
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {tags === undefined && error === null && <Skeleton rows={2} />}
      {tags?.length === 0 && <EmptyState title={words.noTags} text={words.noTagsText} />}
      {tags !== undefined && tags.length > 0 && (
        <Table
          caption={words.tagsCaption}
          columns={columnsFor(workflow, onMove, setDoomed)}
          rows={tags}
          rowKey={({ tag }) => tag}
        />
      )}
      {doomed !== undefined && <DeleteTag workflow={workflow} tag={doomed} onClose={() => setDoomed(undefined)} />}
    </Panel>
  );
}

function columnsFor(
  workflow: WorkflowKey,
  onMove: TagsProps["onMove"],
  onDelete: (tag: Tag) => void,
): readonly Column<Tag>[] {
  const words = texts.workflow;
  const { organizationId } = workflow;
  const columns: Column<Tag>[] = [
    { id: "tag", header: words.tag, cell: ({ tag }) => <TagLink workflow={workflow} tag={tag} /> },
    { id: "version", header: words.pointsAt, cell: ({ versionNumber }) => words.versionNumber(versionNumber) },
    {
      id: "moved",
      header: words.moved,
      isOptional: true,
      cell: ({ updatedAt, updatedBy }) => (
        <>
          <Time at={updatedAt} isRelative />, <ActorName organizationId={organizationId} actor={updatedBy} />
        </>
      ),
    },
  ];
  if (onMove === undefined) return columns;
  const actions: Column<Tag> = {
    id: "actions",
    header: words.actions,
    align: "end",
    width: "132px",
    cell: (tag) => (
      <>
        <Button kind="quiet" aria-label={words.moveTag(tag.tag)} onClick={() => onMove({ tag: tag.tag })}>
          {words.move}
        </Button>
        <Button kind="quiet" icon="cross" onClick={() => onDelete(tag)}>
          <span className="visually-hidden">{words.deleteTagNamed(tag.tag)}</span>
        </Button>
      </>
    ),
  };
  return [...columns, actions];
}

function TagLink({ workflow, tag }: { readonly workflow: WorkflowKey; readonly tag: string }) {
  return (
    <Link
      to="/app/organizations/$organizationId/workflows/$workflowId/tag-history"
      params={workflow}
      search={{ tag }}
      aria-label={texts.tagHistory.title(tag)}
    >
      <TagChip tag={tag} />
    </Link>
  );
}

interface DeleteTagProps {
  readonly workflow: WorkflowKey;
  readonly tag: Tag;
  readonly onClose: () => void;
}

function DeleteTag({ workflow, tag: shown, onClose }: DeleteTagProps) {
  const words = texts.workflow;
  const { tag, versionId } = shown;
  const { offerUndo, refresh } = useTagUndo(workflow);
  const remove = useMutation({
    mutationFn: async () => await deleteTag(workflow, tag, await ifStillAt(workflow, shown)),
    onSuccess: async () => {
      onClose();
      offerUndo({ tag, text: words.tagDeleted(tag), undo: () => setTag(workflow, tag, versionId, ifNew) });
      await refresh();
    },
    // If somebody else moved the tag meanwhile, the page shows it as it is now.
    onError: () => void refresh(),
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={words.deleteTagTitle(tag)}
      description={words.deleteTagText(tag)}
      action={words.deleteTag}
      isDanger
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
    />
  );
}
