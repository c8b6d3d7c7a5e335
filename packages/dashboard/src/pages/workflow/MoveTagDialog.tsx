import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { ifMatch } from "../../api/api.ts";
import { useAllPages } from "../../api/use-all-pages.ts";
import {
  deleteTag,
  ifNew,
  ifStillAt,
  setTag,
  type Tag,
  tagsQuery,
  type Version,
  versionQuery,
  versionsQuery,
  type WorkflowKey,
} from "../../api/workflows.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { Choice, Field } from "../../parts/controls/Field.tsx";
import { DefinitionDiff } from "../../parts/data/DefinitionDiff.tsx";
import { Dialog } from "../../parts/dialogs/Dialog.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { texts } from "../../texts/texts.ts";
import { useTagUndo } from "./use-tag-undo.ts";

/** The tag to be moved, and the version to be tagged. What is left out is chosen in the dialog. */
export interface TagMove {
  /** The name with which the dialog begins; empty if the user must choose one. The default is `$LIVE`. */
  readonly tag?: string;
  readonly versionId?: string;
}

/** The tag that chooses the version of a job if the job was submitted without a version and without a tag. */
const usualTag = "$LIVE";

/** Returns the move with which somebody tags a version. The usual tag is not suggested again for a version that has it. */
export function tagMoveOf({ versionId, tags }: Pick<Version, "versionId" | "tags">): TagMove {
  return { versionId, tag: tags.includes(usualTag) ? "" : usualTag };
}

interface MoveTagDialogProps {
  readonly workflow: WorkflowKey;
  readonly move: TagMove;
  readonly onClose: () => void;
}

const tagPattern = /^\$?[A-Za-z0-9_.-]{1,64}$/;

/** Points a tag at a version, after showing the old and the new version and the differences between their definitions. */
export function MoveTagDialog({ workflow, move, onClose }: MoveTagDialogProps) {
  const words = texts.workflow;
  // A tag is moved only after the tags are loaded. Before that, its old version is not known, and the change could not be undone.
  const { data: tags, error, refetch } = useQuery(tagsQuery(workflow));
  const query = useInfiniteQuery(versionsQuery(workflow));
  useAllPages(query);
  const listed = query.data?.pages.flatMap((page) => page.versions) ?? [];
  const versions = [...listed, ...useOlder(workflow, move.versionId, listed)];
  const [tag, setTagName] = useState(move.tag ?? usualTag);
  const [chosen, setChosen] = useState(move.versionId);
  const current = tags?.find((one) => one.tag === tag);
  // The tag may already point at the newest version. The dialog then begins with the version before it.
  const first = versions.find((one) => one.versionId !== current?.versionId) ?? versions[0];
  const target = chosen === undefined ? first : versions.find((one) => one.versionId === chosen);
  const isName = tagPattern.test(tag);
  const isThere = current !== undefined && current.versionId === target?.versionId;
  const isReady = tags !== undefined && isName && !isThere;
  const apply = useTagMove(workflow, onClose);
  const listId = useId();
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={words.moveTitle}
      description={words.moveText}
      isWide
      isBusy={apply.isPending}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (target === undefined || !isReady) return;
          // If the move fails because somebody else moved the tag, the dialog must not choose another version by itself.
          setChosen(target.versionId);
          apply.mutate({ tag, target, before: current });
        }}
      >
        <div className="workflow-columns">
          <Field
            label={words.tagName}
            hint={words.tagNameHint}
            problem={isName || tag === "" ? undefined : words.tagNameProblem}
            value={tag}
            onChange={(event) => setTagName(event.target.value)}
            list={listId}
            autoComplete="off"
            spellCheck={false}
            required
          />
          <datalist id={listId}>
            {tags?.map((one) => (
              <option key={one.tag} value={one.tag} />
            ))}
          </datalist>
          <Choice
            label={words.targetVersion}
            value={target?.versionId ?? ""}
            onChange={(event) => setChosen(event.target.value)}
          >
            {versions.map(({ versionId, versionNumber, tags: pointing }) => (
              <option key={versionId} value={versionId}>
                {words.versionNumber(versionNumber)}
                {pointing.length > 0 && ` (${pointing.join(", ")})`}
              </option>
            ))}
          </Choice>
        </div>
        {tags === undefined &&
          (error === null ? <Skeleton rows={2} /> : <Problem error={error} onRetry={() => void refetch()} />)}
        {tags !== undefined && target !== undefined && isName && (
          <Change workflow={workflow} tag={tag} current={current} target={target} />
        )}
        {apply.error !== null && <Problem error={apply.error} />}
        <div className="dialog-actions">
          <Button onClick={onClose} disabled={apply.isPending}>
            {texts.parts.cancel}
          </Button>
          {target !== undefined && (
            <Button type="submit" kind="main" disabled={!isReady} isBusy={apply.isPending}>
              {tag === "" ? words.setTag : words.moveAction(tag, target.versionNumber)}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

/** Returns the version to be tagged if it is not among the loaded versions, because it is too old or its page is not loaded yet. */
function useOlder(
  workflow: WorkflowKey,
  versionId: string | undefined,
  listed: readonly Version[],
): readonly Version[] {
  const isOlder = versionId !== undefined && listed.length > 0 && listed.every((one) => one.versionId !== versionId);
  const { data } = useQuery({ ...versionQuery(workflow, versionId ?? ""), enabled: isOlder });
  return isOlder && data !== undefined ? [data] : [];
}

interface ChangeProps {
  readonly workflow: WorkflowKey;
  readonly tag: string;
  readonly current: Tag | undefined;
  readonly target: Version;
}

function Change({ workflow, tag, current, target }: ChangeProps) {
  const words = texts.workflow;
  if (current === undefined) return <p>{words.newTo(tag, target.versionNumber)}</p>;
  if (current.versionId === target.versionId) return <p>{words.alreadyThere(tag, target.versionNumber)}</p>;
  return (
    <>
      <p>
        <strong>{words.fromTo(tag, current.versionNumber, target.versionNumber)}</strong>
      </p>
      <h3>{words.changes}</h3>
      <VersionsDiff workflow={workflow} beforeId={current.versionId} afterId={target.versionId} />
    </>
  );
}

interface VersionsDiffProps {
  readonly workflow: WorkflowKey;
  readonly beforeId: string;
  readonly afterId: string;
}

function VersionsDiff({ workflow, beforeId, afterId }: VersionsDiffProps) {
  const before = useQuery(versionQuery(workflow, beforeId));
  const after = useQuery(versionQuery(workflow, afterId));
  const error = before.error ?? after.error;
  if (error !== null) return <Problem error={error} />;
  if (before.data === undefined || after.data === undefined) return <Skeleton rows={4} />;
  return <DefinitionDiff before={before.data.definition} after={after.data.definition} />;
}

interface TagMoveWish {
  readonly tag: string;
  readonly target: Version;
  /** The tag as it was when the user asked for the change. */
  readonly before: Tag | undefined;
}

/** Moves the tag. The change can be undone for a while: the tag goes back to its old version, or is removed if it had none. */
function useTagMove(workflow: WorkflowKey, onDone: () => void) {
  const { offerUndo, refresh } = useTagUndo(workflow);
  return useMutation({
    mutationFn: async ({ tag, target, before }: TagMoveWish) => {
      const precondition = before === undefined ? ifNew : await ifStillAt(workflow, before);
      return await setTag(workflow, tag, target.versionId, precondition);
    },
    onSuccess: async ({ data: { tag, versionNumber }, etag }, { before }) => {
      onDone();
      const undo = () =>
        before === undefined
          ? deleteTag(workflow, tag, ifMatch(etag))
          : setTag(workflow, tag, before.versionId, ifMatch(etag));
      offerUndo({ tag, text: texts.workflow.tagMoved(tag, versionNumber), undo });
      await refresh();
    },
    // If somebody else changed the tag meanwhile, the page shows it as it is now.
    onError: () => void refresh(),
  });
}
