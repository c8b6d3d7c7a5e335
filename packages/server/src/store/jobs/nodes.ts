import type { Timestamp } from "../../core/job/job-state.ts";
import { type Queryable, statement } from "../home/database.ts";
import type { JobKey } from "./jobs.ts";

/** Renews this node's heartbeat and answers the database's time, by which all leases are counted. */
export async function beat(db: Queryable, node: { nodeId: string; name: string }): Promise<Timestamp> {
  const [row] = await db.query(beatNode, [node.nodeId, node.name]);
  if (row === undefined) throw new Error("The heartbeat answered nothing.");
  return row.now;
}

const beatNode = statement<{ now: Timestamp }>(
  "beat_node",
  "global",
  `INSERT INTO node (node_id, name, started_at, heartbeat_at)
   VALUES ($1, $2, clock_timestamp(), clock_timestamp())
   ON CONFLICT (node_id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at
   RETURNING heartbeat_at AS now`,
);

export interface NodeRow {
  readonly nodeId: string;
  readonly name: string;
  readonly isAlive: boolean;
  readonly heartbeatAt: Timestamp;
}

/** All nodes that ever beat and were not removed. Alive: the last heartbeat is younger than the lease, by the database's clock. */
export async function listNodes(db: Queryable, leaseMs: number): Promise<NodeRow[]> {
  return await db.query(listNodeRows, [leaseMs]);
}

const listNodeRows = statement<NodeRow>(
  "list_nodes",
  "global",
  `SELECT node_id AS "nodeId", name, heartbeat_at > clock_timestamp() - $1::integer * interval '1 millisecond' AS "isAlive",
     heartbeat_at AS "heartbeatAt"
   FROM node
   ORDER BY started_at`,
);

/** Forgets a node: one that leaves says so itself, one that died is removed when its jobs are taken over. */
export async function removeNode(db: Queryable, nodeId: string): Promise<void> {
  await db.query(removeNodeRow, [nodeId]);
}

const removeNodeRow = statement<never>("remove_node", "global", "DELETE FROM node WHERE node_id = $1");

/** Candidates for a takeover: jobs whose owner is not among the living. */
export async function findOrphans(
  db: Queryable,
  livingNodeIds: readonly string[],
  limit: number,
): Promise<OrphanedJob[]> {
  return await db.query(findOrphanRows, [livingNodeIds, limit]);
}

export interface OrphanedJob extends JobKey {
  readonly nodeId: string;
}

const findOrphanRows = statement<OrphanedJob>(
  "find_orphaned_jobs",
  "maintenance",
  `SELECT organization_id AS "organizationId", job_id AS "jobId", node_id AS "nodeId"
   FROM job
   WHERE node_id IS NOT NULL AND node_id <> ALL($1::uuid[])
   LIMIT $2`,
);

/** Jobs that a node owns and that have not changed for `ageMs`. */
export async function findOwned(db: Queryable, nodeId: string, ageMs: number, limit: number): Promise<OrphanedJob[]> {
  return await db.query(findOwnedRows, [nodeId, ageMs, limit]);
}

const findOwnedRows = statement<OrphanedJob>(
  "find_owned_jobs",
  "maintenance",
  `SELECT organization_id AS "organizationId", job_id AS "jobId", node_id AS "nodeId"
   FROM job
   WHERE node_id = $1 AND updated_at < now() - $2::integer * interval '1 millisecond'
   LIMIT $3`,
);

/** How many calls of an organization each node holds, begun or in line. */
export async function countHeldCalls(
  db: Queryable,
  organizationId: string,
): Promise<{ nodeId: string; count: number }[]> {
  return await db.query(countHeldCallRows, [organizationId]);
}

const countHeldCallRows = statement<{ nodeId: string; count: number }>(
  "count_held_calls",
  "organization",
  `SELECT node_id AS "nodeId", count(*) AS count
   FROM job
   WHERE organization_id = $1 AND node_id IS NOT NULL
   GROUP BY node_id`,
);

/** Whether the job's row names this node as its owner, under this epoch. */
export async function ownsJob(db: Queryable, nodeId: string, key: JobKey, leaseEpoch: number): Promise<boolean> {
  const rows = await db.query(findOwnership, [key.organizationId, key.jobId, nodeId, leaseEpoch]);
  return rows.length > 0;
}

const findOwnership = statement<{ found: number }>(
  "find_ownership",
  "organization",
  `SELECT 1 AS found FROM job
   WHERE organization_id = $1 AND job_id = $2 AND node_id = $3 AND lease_epoch = $4`,
);

export interface OwnedJob extends JobKey {
  readonly leaseEpoch: number;
}

/**
 * Takes jobs over from a dead node, of one group of organizations. Answers those that are now ours, with their new epoch; the others
 * were taken by somebody else. Whatever the dead node still sends carries the old epoch and is dropped.
 */
export async function takeOverJobs(
  db: Queryable,
  nodeId: string,
  deadNodeId: string,
  keys: readonly JobKey[],
): Promise<OwnedJob[]> {
  if (keys.length === 0) return [];
  const organizations = [...new Set(keys.map((key) => key.organizationId))];
  return await db.query(takeOverJobRows, [nodeId, deadNodeId, organizations, keys.map((key) => key.jobId)]);
}

const takeOverJobRows = statement<OwnedJob>(
  "take_over_jobs",
  "organization",
  `UPDATE job
   SET node_id = $1, lease_epoch = lease_epoch + 1
   WHERE organization_id = ANY($3::uuid[]) AND job_id = ANY($4::uuid[]) AND node_id = $2
   RETURNING organization_id AS "organizationId", job_id AS "jobId", lease_epoch AS "leaseEpoch"`,
);
