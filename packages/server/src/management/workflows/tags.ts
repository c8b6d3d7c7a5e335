import { actorOf } from "../../auth/caller.ts";
import { notFound } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import type { Transaction } from "../../store/home/database.ts";
import { deleteTag as deleteTagRow, findTag, insertTagChange, setTag, type Tag } from "../../store/workflows/tags.ts";
import { findVersionNumber } from "../../store/workflows/versions.ts";
import { lockWorkflow, type WorkflowKey } from "../../store/workflows/workflows.ts";
import type { CallerAct, ManagementParts } from "../act/act.ts";
import { recordAudit } from "../act/audit-trail.ts";
import { etagOf, requireUnchanged } from "../act/precondition.ts";
import { transactOnce } from "../act/repetition.ts";
import { requireRoom } from "../maximums/maximums.ts";

export interface TagKey extends WorkflowKey {
  readonly tag: string;
}

/**
 * Points a tag at a version. From then on, jobs that are submitted with the tag run that version. Throws 404 when there is no such workflow or
 * version, and 409 for a new tag of a workflow that has too many tags.
 */
export async function setWorkflowVersionTag<Answer extends object>(
  parts: ManagementParts,
  act: CallerAct,
  { tag, ...workflow }: TagKey,
  versionId: string,
  answerOf: (tag: Tag) => Answer,
): Promise<Answer> {
  const { organizationId, workflowId } = workflow;
  const by = actorOf(act.caller);
  return await changeTag(parts, act, workflow, async (transaction, at) => {
    const versionNumber = await findVersionNumber(transaction, workflow, versionId);
    if (versionNumber === undefined) throw notFound("version of this workflow");
    const from = await findTag(transaction, workflow, tag);
    requireUnchanged(act, "tag of this workflow", from && etagOfTag(from));
    const pointed = { workflowId, tag, versionId, versionNumber, updatedBy: by, updatedAt: at };
    if (from === undefined) await requireRoom(transaction, parts, act, workflow, "tagsPerWorkflow");
    await setTag(transaction, organizationId, pointed);
    await insertTagChange(transaction, workflow, tag, { versionId, versionNumber, changedBy: by, changedAt: at });
    const details = { workflowId, from: meaningOf(from), to: { versionId, versionNumber } };
    await recordAudit(transaction, parts.engine, act, { organizationId, targetType: "tag", targetId: tag, details });
    return answerOf(pointed);
  });
}

/** Deletes a tag. Its version stays. Throws 404 when there is no such tag. */
export async function deleteTag(parts: ManagementParts, act: CallerAct, { tag, ...workflow }: TagKey): Promise<void> {
  const { organizationId, workflowId } = workflow;
  await changeTag(parts, act, workflow, async (transaction, changedAt) => {
    const from = await findTag(transaction, workflow, tag);
    if (from !== undefined) requireUnchanged(act, "tag of this workflow", etagOfTag(from));
    if (!(await deleteTagRow(transaction, workflow, tag))) throw notFound("tag of this workflow");
    const change = { versionId: null, versionNumber: null, changedBy: actorOf(act.caller), changedAt };
    await insertTagChange(transaction, workflow, tag, change);
    const details = { workflowId, from: meaningOf(from), to: null };
    await recordAudit(transaction, parts.engine, act, { organizationId, targetType: "tag", targetId: tag, details });
    return {};
  });
}

/**
 * Changes a tag and its history together. Changes of a workflow's tags run one after the other. A repeated request changes nothing, because somebody
 * else may have moved the tag in the meantime.
 */
async function changeTag<Result extends object>(
  parts: ManagementParts,
  act: CallerAct,
  workflow: WorkflowKey,
  change: (transaction: Transaction, at: Timestamp) => Promise<Result>,
): Promise<Result> {
  const { organizationId } = workflow;
  return await transactOnce(parts, act, { organizationId }, async (transaction) => {
    if (!(await lockWorkflow(transaction, workflow))) throw notFound("workflow");
    return await change(transaction, parts.engine.now());
  });
}

/** Makes the entity tag of a tag. It changes when the tag points at another version. */
export function etagOfTag({ tag, versionId }: Pick<Tag, "tag" | "versionId">): string {
  return etagOf({ tag, versionId });
}

function meaningOf(tag: Tag | undefined) {
  return tag === undefined ? null : { versionId: tag.versionId, versionNumber: tag.versionNumber };
}
