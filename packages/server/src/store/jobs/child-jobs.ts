import type { JobStatus, ParentStep } from "../../core/job/job-state.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";
import { askInParts, askTogether, everyPair, organizationsOf } from "../home/key-parts.ts";
import type { JobKey } from "./jobs.ts";

/** Names a root: the job at the top of a tree, which has no parent. */
export interface RootKey {
  readonly organizationId: string;
  readonly rootJobId: string;
}

export interface LockedTrees {
  /** The number of jobs below each root whose count was locked. A root without jobs below it is left out. */
  readonly counts: readonly (RootKey & { readonly count: number })[];
  /** The roots whose counts another transaction has locked. */
  readonly held: readonly RootKey[];
}

/** Locks the counts of the jobs below these roots. It waits for no other transaction. */
export async function lockTrees(transaction: Transaction, roots: readonly RootKey[]): Promise<LockedTrees> {
  if (roots.length === 0) return { counts: [], held: [] };
  const ask = (rows: typeof lockTreeRows) =>
    askTogether(roots, (part) => transaction.query(rows, [organizationsOf(part), part.map(rootOf)]), everyPair);
  const counts = await ask(lockTreeRows);
  const found = new Set(counts.map(rootOf));
  if (roots.every(({ rootJobId }) => found.has(rootJobId))) return { counts, held: [] };
  // A row that was skipped because of its lock still exists, so this read finds it.
  const all = await ask(readTreeRows);
  return { counts, held: all.filter(({ rootJobId }) => !found.has(rootJobId)) };
}

const treeRows = (lock: "FOR UPDATE SKIP LOCKED" | "") =>
  `SELECT organization_id AS "organizationId", root_job_id AS "rootJobId", descendant_count AS count
   FROM job_tree
   WHERE organization_id = ANY($1::uuid[]) AND root_job_id = ANY($2::uuid[])
   ${lock}`;

const lockTreeRows = statement<RootKey & { count: number }>(
  "lock_job_trees",
  "organization",
  treeRows("FOR UPDATE SKIP LOCKED"),
);
const readTreeRows = statement<RootKey & { count: number }>("read_job_trees", "organization", treeRows(""));

export interface MadeChild extends JobKey {
  readonly parent: ParentStep;
}

/** Records jobs that other jobs made: each job with its parent, and in the count of its root. */
export async function insertChildren(transaction: Transaction, children: readonly MadeChild[]): Promise<void> {
  if (children.length === 0) return;
  const organizations = organizationsOf(children);
  const rows = children.map(({ organizationId, jobId, parent }) => ({
    organization_id: organizationId,
    parent_job_id: parent.jobId,
    job_id: jobId,
  }));
  const byRoot = Map.groupBy(children, ({ organizationId, parent }) => `${organizationId} ${parent.rootJobId}`);
  const counts = [...byRoot.values()].flatMap((ofRoot) =>
    ofRoot.slice(0, 1).map(({ organizationId, parent }) => ({
      organization_id: organizationId,
      root_job_id: parent.rootJobId,
      descendant_count: ofRoot.length,
    })),
  );
  const written = await Promise.all([
    transaction.query(insertChildRows, [JSON.stringify(rows), organizations]),
    transaction.query(countDescendants, [JSON.stringify(counts), organizations]),
  ]);
  if (written[0].length !== rows.length || written[1].length !== counts.length) {
    throw new Error(
      `Only ${written[0].length} of ${rows.length} children and ${written[1].length} of ${counts.length} counts were written.`,
    );
  }
}

const insertChildRows = statement<{ jobId: string }>(
  "insert_child_jobs",
  "organization",
  `INSERT INTO child_job (organization_id, parent_job_id, job_id)
   SELECT organization.organization_id, new.parent_job_id, new.job_id
   FROM json_to_recordset($1) AS new (organization_id uuid, parent_job_id uuid, job_id uuid)
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($2::uuid[])
   RETURNING job_id AS "jobId"`,
);

// Two nodes may make the first children below the same two roots at the same time. The rows are written in the order of the roots, so that the nodes
// cannot deadlock.
const countDescendants = statement<{ count: number }>(
  "count_descendants",
  "organization",
  `INSERT INTO job_tree (organization_id, root_job_id, descendant_count)
   SELECT organization.organization_id, new.root_job_id, new.descendant_count
   FROM json_to_recordset($1) AS new (organization_id uuid, root_job_id uuid, descendant_count integer)
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($2::uuid[])
   ORDER BY organization.organization_id, new.root_job_id
   ON CONFLICT (organization_id, root_job_id) DO UPDATE SET descendant_count = job_tree.descendant_count + excluded.descendant_count
   RETURNING descendant_count AS count`,
);

/** A child in the list of its parent's children. */
export interface ChildRow {
  readonly jobId: string;
  readonly status: JobStatus;
  readonly workflowId: string;
  readonly workflowName: string;
  readonly versionNumber: number;
  readonly parent: ParentStep;
  readonly createdAt: Timestamp;
  readonly finishedAt: Timestamp | null;
}

/** Lists the children of a job, newest first: all of them, or only those of these workflows. */
export async function listChildren(
  db: Queryable,
  { organizationId, jobId }: JobKey,
  workflowIds: readonly string[] | null,
  limit: number,
): Promise<ChildRow[]> {
  return await db.query(listChildRows, [organizationId, jobId, limit, workflowIds]);
}

const listChildRows = statement<ChildRow>(
  "list_child_jobs",
  "organization",
  `SELECT job.job_id AS "jobId", job.status, job.workflow_id AS "workflowId", job.workflow_name AS "workflowName",
     job.version_number AS "versionNumber", job.parent, job.created_at AS "createdAt", job.finished_at AS "finishedAt"
   FROM child_job
   JOIN job ON job.organization_id = $1 AND job.organization_id = child_job.organization_id AND job.job_id = child_job.job_id
   WHERE child_job.organization_id = $1 AND child_job.parent_job_id = $2 AND ($4::uuid[] IS NULL OR job.workflow_id = ANY($4))
   ORDER BY child_job.job_id DESC
   LIMIT $3`,
);

/** Counts the children of each of these jobs. Jobs without children are left out. */
export async function countChildren(db: Queryable, keys: readonly JobKey[]): Promise<(JobKey & { count: number })[]> {
  return await askInParts(keys, (part) =>
    db.query(countChildRows, [organizationsOf(part), part.map(({ jobId }) => jobId)]),
  );
}

const countChildRows = statement<JobKey & { count: number }>(
  "count_child_jobs",
  "organization",
  `SELECT organization_id AS "organizationId", parent_job_id AS "jobId", count(*) AS count
   FROM child_job
   WHERE organization_id = ANY($1::uuid[]) AND parent_job_id = ANY($2::uuid[])
   GROUP BY organization_id, parent_job_id`,
);

function rootOf({ rootJobId }: RootKey): string {
  return rootJobId;
}
