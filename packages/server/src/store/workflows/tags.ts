import type { Actor } from "../../core/actor.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";
import type { WorkflowKey } from "./workflows.ts";

export interface Tag {
  readonly workflowId: string;
  readonly tag: string;
  readonly versionId: string;
  readonly versionNumber: number;
  readonly updatedBy: Actor;
  readonly updatedAt: Timestamp;
}

const tagColumns = `
  workflow_id AS "workflowId", tag, version_id AS "versionId", version_number AS "versionNumber", updated_by AS "updatedBy",
  updated_at AS "updatedAt"`;

/** Points a tag at a version. The caller holds the workflow's lock, and has checked that the version belongs to the workflow. */
export async function setTag(transaction: Transaction, organizationId: string, tag: Tag): Promise<void> {
  await transaction.query(setTagRow, [
    organizationId,
    tag.workflowId,
    tag.tag,
    tag.versionId,
    tag.versionNumber,
    JSON.stringify(tag.updatedBy),
    new Date(tag.updatedAt).toISOString(),
  ]);
}

const setTagRow = statement<never>(
  "set_tag",
  "organization",
  `INSERT INTO workflow_tag (organization_id, workflow_id, tag, version_id, version_number, updated_by, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (organization_id, workflow_id, tag) DO UPDATE
   SET version_id = excluded.version_id, version_number = excluded.version_number, updated_by = excluded.updated_by,
     updated_at = excluded.updated_at`,
);

export async function findTag(db: Queryable, workflow: WorkflowKey, tag: string): Promise<Tag | undefined> {
  const [row] = await db.query(findTagRow, [workflow.organizationId, workflow.workflowId, tag]);
  return row;
}

const findTagRow = statement<Tag>(
  "find_tag",
  "organization",
  `SELECT ${tagColumns}
   FROM workflow_tag
   WHERE organization_id = $1 AND workflow_id = $2 AND tag = $3`,
);

/** Lists the tags after `afterTag`, in the order of their names, which are compared byte by byte. */
export async function listTags(
  db: Queryable,
  workflow: WorkflowKey,
  afterTag: string | null,
  limit: number,
): Promise<Tag[]> {
  return await db.query(listTagRows, [workflow.organizationId, workflow.workflowId, afterTag, limit]);
}

const listTagRows = statement<Tag>(
  "list_tags",
  "organization",
  `SELECT ${tagColumns}
   FROM workflow_tag
   WHERE organization_id = $1 AND workflow_id = $2 AND ($3::text IS NULL OR tag COLLATE "C" > $3)
   ORDER BY tag COLLATE "C"
   LIMIT $4`,
  "each-time",
);

export async function findTagsOfWorkflows(
  db: Queryable,
  organizationId: string,
  workflowIds: readonly string[],
): Promise<Tag[]> {
  if (workflowIds.length === 0) return [];
  return await db.query(findTagsOfWorkflowRows, [organizationId, workflowIds]);
}

const findTagsOfWorkflowRows = statement<Tag>(
  "find_tags_of_workflows",
  "organization",
  `SELECT ${tagColumns}
   FROM workflow_tag
   WHERE organization_id = $1 AND workflow_id = ANY($2::uuid[])
   ORDER BY tag COLLATE "C"`,
);

export async function findTagsOfVersions(
  db: Queryable,
  workflow: WorkflowKey,
  versionIds: readonly string[],
): Promise<Tag[]> {
  if (versionIds.length === 0) return [];
  return await db.query(findTagsOfVersionRows, [workflow.organizationId, workflow.workflowId, versionIds]);
}

const findTagsOfVersionRows = statement<Tag>(
  "find_tags_of_versions",
  "organization",
  `SELECT ${tagColumns}
   FROM workflow_tag
   WHERE organization_id = $1 AND workflow_id = $2 AND version_id = ANY($3::uuid[])
   ORDER BY tag COLLATE "C"`,
);

/** Counts the tags of a workflow. When no workflow is given, counts those of the workflow with the most tags. */
export async function countTags(
  db: Queryable,
  organizationId: string,
  workflowId: string | undefined,
): Promise<number> {
  const [row] = await db.query(countTagRows, [organizationId, workflowId ?? null]);
  return row?.tagCount ?? 0;
}

const countTagRows = statement<{ tagCount: number }>(
  "count_tags",
  "organization",
  `SELECT count(*)::integer AS "tagCount"
   FROM workflow_tag
   JOIN workflow ON workflow.organization_id = workflow_tag.organization_id
     AND workflow.workflow_id = workflow_tag.workflow_id
   WHERE workflow_tag.organization_id = $1 AND workflow.organization_id = $1 AND workflow.deleted_at IS NULL
     AND ($2::uuid IS NULL OR workflow_tag.workflow_id = $2)
   GROUP BY workflow_tag.workflow_id
   ORDER BY count(*) DESC
   LIMIT 1`,
  "each-time",
);

export async function deleteTag(transaction: Transaction, workflow: WorkflowKey, tag: string): Promise<boolean> {
  const rows = await transaction.query(deleteTagRow, [workflow.organizationId, workflow.workflowId, tag]);
  return rows.length > 0;
}

const deleteTagRow = statement<{ tag: string }>(
  "delete_tag",
  "organization",
  "DELETE FROM workflow_tag WHERE organization_id = $1 AND workflow_id = $2 AND tag = $3 RETURNING tag",
);

/** One change of a tag. It has the version to which the tag points from then on, or no version when the tag was deleted. */
export interface TagChange {
  /** The number of the change, from 1 for each tag. */
  readonly changeNumber: number;
  readonly versionId: string | null;
  readonly versionNumber: number | null;
  readonly changedBy: Actor;
  readonly changedAt: Timestamp;
}

/** Inserts a change. The caller holds the workflow's lock, so that the numbers have no gaps. */
export async function insertTagChange(
  transaction: Transaction,
  workflow: WorkflowKey,
  tag: string,
  change: Omit<TagChange, "changeNumber">,
): Promise<void> {
  const written = await transaction.query(insertTagChangeRow, [
    workflow.organizationId,
    workflow.workflowId,
    tag,
    change.versionId,
    change.versionNumber,
    JSON.stringify(change.changedBy),
    new Date(change.changedAt).toISOString(),
  ]);
  if (written.length === 0) throw new Error("The change of the tag was not written.");
}

const insertTagChangeRow = statement<{ changeNumber: number }>(
  "insert_tag_change",
  "organization",
  `INSERT INTO workflow_tag_history (organization_id, workflow_id, tag, change_number, version_id, version_number, changed_by,
     changed_at)
   SELECT workflow.organization_id, workflow.workflow_id, $3::text, COALESCE(max(earlier.change_number), 0) + 1, $4::uuid, $5::integer,
     $6::json, $7::timestamptz
   FROM workflow
   LEFT JOIN workflow_tag_history AS earlier ON earlier.organization_id = workflow.organization_id
     AND earlier.workflow_id = workflow.workflow_id AND earlier.tag = $3
   WHERE workflow.organization_id = $1 AND workflow.workflow_id = $2
   GROUP BY workflow.organization_id, workflow.workflow_id
   RETURNING change_number AS "changeNumber"`,
);

/** Lists the changes of a tag, newest first. */
export async function listTagChanges(
  db: Queryable,
  workflow: WorkflowKey,
  tag: string,
  beforeChangeNumber: number | null,
  limit: number,
): Promise<TagChange[]> {
  const { organizationId, workflowId } = workflow;
  return await db.query(listTagChangeRows, [organizationId, workflowId, tag, beforeChangeNumber, limit]);
}

const listTagChangeRows = statement<TagChange>(
  "list_tag_changes",
  "organization",
  `SELECT change_number AS "changeNumber", version_id AS "versionId", version_number AS "versionNumber",
     changed_by AS "changedBy", changed_at AS "changedAt"
   FROM workflow_tag_history
   WHERE organization_id = $1 AND workflow_id = $2 AND tag = $3 AND ($4::integer IS NULL OR change_number < $4)
   ORDER BY change_number DESC
   LIMIT $5`,
  "each-time",
);
