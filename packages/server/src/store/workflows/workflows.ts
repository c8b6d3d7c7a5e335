import type { Actor } from "../../core/actor.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";

export interface Workflow {
  readonly organizationId: string;
  readonly workflowId: string;
  readonly name: string;
  readonly createdBy: Actor;
  readonly createdAt: Timestamp;
}

export interface WorkflowKey {
  readonly organizationId: string;
  readonly workflowId: string;
}

const workflowColumns = `
  organization_id AS "organizationId", workflow_id AS "workflowId", name, created_by AS "createdBy", created_at AS "createdAt"`;

/** Inserts a workflow. Returns false when another workflow of the organization has the name (compared byte by byte). */
export async function insertWorkflow(transaction: Transaction, workflow: Workflow): Promise<boolean> {
  const { organizationId, workflowId, name, createdBy, createdAt } = workflow;
  const inserted = await transaction.query(insertWorkflowRow, [
    organizationId,
    workflowId,
    name,
    JSON.stringify(createdBy),
    new Date(createdAt).toISOString(),
  ]);
  return inserted.length > 0;
}

const insertWorkflowRow = statement<{ workflowId: string }>(
  "insert_workflow",
  "organization",
  `INSERT INTO workflow (organization_id, workflow_id, name, created_by, created_at)
   VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (organization_id, name) WHERE deleted_at IS NULL DO NOTHING
   RETURNING workflow_id AS "workflowId"`,
);

export async function findWorkflow(db: Queryable, key: WorkflowKey): Promise<Workflow | undefined> {
  const [row] = await db.query(findWorkflowRow, [key.organizationId, key.workflowId]);
  return row;
}

const findWorkflowRow = statement<Workflow>(
  "find_workflow",
  "organization",
  `SELECT ${workflowColumns}
   FROM workflow
   WHERE organization_id = $1 AND workflow_id = $2 AND deleted_at IS NULL`,
);

/** Locks the workflow, so that changes of its versions and tags run one after the other. Returns false when the workflow does not exist. */
export async function lockWorkflow(transaction: Transaction, key: WorkflowKey): Promise<boolean> {
  const rows = await transaction.query(lockWorkflowRow, [key.organizationId, key.workflowId]);
  return rows.length > 0;
}

const lockWorkflowRow = statement<{ workflowId: string }>(
  "lock_workflow",
  "organization",
  `SELECT workflow_id AS "workflowId"
   FROM workflow
   WHERE organization_id = $1 AND workflow_id = $2 AND deleted_at IS NULL
   FOR UPDATE`,
);

export interface WorkflowSearch {
  readonly organizationId: string;
  readonly name: string | null;
  /** The workflows to list; null for all. */
  readonly workflowIds: readonly string[] | null;
  readonly afterName: string | null;
  readonly limit: number;
}

/** Lists workflows in the order of their names. */
export async function listWorkflows(db: Queryable, search: WorkflowSearch): Promise<Workflow[]> {
  const { organizationId, name, workflowIds, afterName, limit } = search;
  return await db.query(listWorkflowRows, [organizationId, name, afterName, limit, workflowIds]);
}

const listWorkflowRows = statement<Workflow>(
  "list_workflows",
  "organization",
  `SELECT ${workflowColumns}
   FROM workflow
   WHERE organization_id = $1 AND deleted_at IS NULL
     AND ($2::text IS NULL OR name = $2) AND ($3::text IS NULL OR name COLLATE "C" > $3)
     AND ($5::uuid[] IS NULL OR workflow_id = ANY($5))
   ORDER BY name COLLATE "C"
   LIMIT $4`,
  "each-time",
);

export async function countWorkflows(db: Queryable, organizationId: string): Promise<number> {
  const [row] = await db.query(countWorkflowRows, [organizationId]);
  return row?.workflowCount ?? 0;
}

const countWorkflowRows = statement<{ workflowCount: number }>(
  "count_workflows",
  "organization",
  `SELECT count(*)::integer AS "workflowCount" FROM workflow WHERE organization_id = $1 AND deleted_at IS NULL`,
);

/** Finds the ids among these that belong to workflows of the organization. */
export async function findWorkflowIds(
  db: Queryable,
  organizationId: string,
  workflowIds: readonly string[],
): Promise<string[]> {
  const rows = await db.query(findWorkflowIdRows, [organizationId, workflowIds]);
  return rows.map(({ workflowId }) => workflowId);
}

const findWorkflowIdRows = statement<{ workflowId: string }>(
  "find_workflow_ids",
  "organization",
  `SELECT workflow_id AS "workflowId"
   FROM workflow
   WHERE organization_id = $1 AND workflow_id = ANY($2::uuid[]) AND deleted_at IS NULL`,
);

/** Finds the workflows that have this name, or had it when they were deleted. The jobs of a deleted workflow still carry its name. */
export async function findWorkflowIdsByName(db: Queryable, organizationId: string, name: string): Promise<string[]> {
  const rows = await db.query(findWorkflowIdRowsByName, [organizationId, name]);
  return rows.map(({ workflowId }) => workflowId);
}

const findWorkflowIdRowsByName = statement<{ workflowId: string }>(
  "find_workflow_ids_by_name",
  "organization",
  `SELECT workflow_id AS "workflowId"
   FROM workflow
   WHERE organization_id = $1 AND name = $2`,
);

/** Hides the workflow and frees its name. Its jobs continue and can still be read. Returns the name; undefined when there was no such workflow. */
export async function deleteWorkflow(db: Queryable, key: WorkflowKey, at: Timestamp): Promise<string | undefined> {
  const [row] = await db.query(deleteWorkflowRow, [key.organizationId, key.workflowId, new Date(at).toISOString()]);
  return row?.name;
}

const deleteWorkflowRow = statement<{ name: string }>(
  "delete_workflow",
  "organization",
  `UPDATE workflow
   SET deleted_at = $3
   WHERE organization_id = $1 AND workflow_id = $2 AND deleted_at IS NULL
   RETURNING name`,
);
