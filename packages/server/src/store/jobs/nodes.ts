import type { Timestamp } from "../../core/job/job-state.ts";
import { type Queryable, statement } from "../home/database.ts";
import type { JobKey } from "./jobs.ts";
import { askInParts, everyPairJoined } from "./key-parts.ts";

/** Renews this node's heartbeat and answers the database's time, by which this node sets its clock. */
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

/**
 * All nodes that ever beat and were not removed. Alive: the last heartbeat is younger than the lease, by the database's clock. That is for people;
 * whose jobs may be taken over is for the failure detector to say.
 */
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

/** Forgets a node that leaves. */
export async function removeNode(db: Queryable, nodeId: string): Promise<void> {
  await db.query(removeNodeRow, [nodeId]);
}

const removeNodeRow = statement<never>("remove_node", "global", "DELETE FROM node WHERE node_id = $1");

/** Forgets a node that died, unless it has beaten again. Its jobs are found by its absence. */
export async function removeDeadNode(db: Queryable, { nodeId, heartbeatAt }: NodeRow): Promise<void> {
  await db.query(removeDeadNodeRow, [nodeId, new Date(heartbeatAt).toISOString()]);
}

/** The time was read in milliseconds, and the row holds microseconds. */
const removeDeadNodeRow = statement<never>(
  "remove_dead_node",
  "global",
  "DELETE FROM node WHERE node_id = $1 AND date_trunc('milliseconds', heartbeat_at) = $2",
);

/** Candidates for a takeover: jobs whose owner is not among the living. */
export async function findOrphans(
  db: Queryable,
  livingNodeIds: readonly string[],
  leftOut: LeftOutJobs,
  limit: number,
): Promise<OrphanedJob[]> {
  return await db.query(findOrphanRows, [livingNodeIds, leftOut.versionIds, leftOut.jobIds, limit]);
}

/** Jobs that a search passes over. */
export interface LeftOutJobs {
  readonly versionIds: readonly string[];
  readonly jobIds: readonly string[];
}

export interface OrphanedJob extends JobKey {
  readonly versionId: string;
  readonly nodeId: string;
  readonly leaseEpoch: number;
}

const ownedJobColumns = `organization_id AS "organizationId", job_id AS "jobId", version_id AS "versionId", node_id AS "nodeId", lease_epoch AS "leaseEpoch"`;

const findOrphanRows = statement<OrphanedJob>(
  "find_orphaned_jobs",
  "maintenance",
  `SELECT ${ownedJobColumns}
   FROM job
   WHERE node_id IS NOT NULL AND node_id <> ALL($1::uuid[]) AND version_id <> ALL($2::uuid[]) AND job_id <> ALL($3::uuid[])
   LIMIT $4`,
);

/**
 * Jobs that a node owns and that have not changed for `ageMs`, in the order of their ids, those behind `after`. They are sorted for each search: a node's
 * bounds keep them to some thousands, of which the index by node finds all, and one more column in it would be written with every call.
 */
export async function findOwned(
  db: Queryable,
  { nodeId, ageMs, after }: { readonly nodeId: string; readonly ageMs: number; readonly after: string | undefined },
  leftOut: LeftOutJobs,
  limit: number,
): Promise<OrphanedJob[]> {
  return await db.query(findOwnedRows, [nodeId, ageMs, after ?? null, leftOut.versionIds, leftOut.jobIds, limit]);
}

const findOwnedRows = statement<OrphanedJob>(
  "find_owned_jobs",
  "maintenance",
  `SELECT ${ownedJobColumns}
   FROM job
   WHERE node_id = $1 AND updated_at < now() - $2::integer * interval '1 millisecond' AND ($3::uuid IS NULL OR job_id > $3::uuid)
     AND version_id <> ALL($4::uuid[]) AND job_id <> ALL($5::uuid[])
   ORDER BY job_id
   LIMIT $6`,
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

/** A call that a node owes, under the epoch in which it owns the job. */
export interface OwnedCall extends JobKey {
  readonly leaseEpoch: number;
}

export interface TakenJob extends OwnedCall {
  /** Whether the earlier owner's call had begun, so that it may have taken its node down. */
  readonly hadBegun: boolean;
}

/**
 * Takes jobs over from a dead node, of one group of organizations. Answers those that are now ours, with their new epoch; the others
 * were taken by somebody else, or their owner lives and has gone on. Whatever the dead node still sends carries the old epoch and is dropped.
 * A call that had begun keeps its mark, for the case that this node dies before it has said so in the job's history.
 */
export async function takeOverJobs(
  db: Queryable,
  nodeId: string,
  deadNodeId: string,
  jobs: readonly OwnedCall[],
): Promise<TakenJob[]> {
  return await askInParts(
    jobs,
    (part) => db.query(takeOverJobRows, [nodeId, deadNodeId, ...callArrays(part)]),
    everyPairJoined,
  );
}

const takeOverJobRows = statement<TakenJob>(
  "take_over_jobs",
  "organization",
  `UPDATE job
   SET node_id = $1, lease_epoch = job.lease_epoch + 1,
     begun_epoch = CASE WHEN job.begun_epoch = job.lease_epoch THEN job.lease_epoch + 1 ELSE job.begun_epoch END
   FROM unnest($3::uuid[], $4::uuid[], $5::integer[]) AS orphan (organization_id, job_id, lease_epoch)
   WHERE job.organization_id = ANY($3::uuid[]) AND job.job_id = ANY($4::uuid[])
     AND job.organization_id = orphan.organization_id AND job.job_id = orphan.job_id
     AND job.node_id = $2 AND job.lease_epoch = orphan.lease_epoch
   RETURNING job.organization_id AS "organizationId", job.job_id AS "jobId", job.lease_epoch AS "leaseEpoch",
     coalesce(job.begun_epoch = job.lease_epoch, false) AS "hadBegun"`,
);

/**
 * Notes that calls begin, of one group of organizations. Answers those that the node still owns under their epoch; the others it must not begin.
 */
export async function markBegun(db: Queryable, nodeId: string, calls: readonly OwnedCall[]): Promise<OwnedCall[]> {
  return await askInParts(calls, (part) => db.query(markBegunRows, [nodeId, ...callArrays(part)]), everyPairJoined);
}

const markBegunRows = statement<OwnedCall>(
  "mark_calls_begun",
  "organization",
  `UPDATE job
   SET begun_epoch = job.lease_epoch
   FROM unnest($2::uuid[], $3::uuid[], $4::integer[]) AS begun (organization_id, job_id, lease_epoch)
   WHERE job.organization_id = ANY($2::uuid[]) AND job.job_id = ANY($3::uuid[])
     AND job.organization_id = begun.organization_id AND job.job_id = begun.job_id
     AND job.node_id = $1 AND job.lease_epoch = begun.lease_epoch
   RETURNING job.organization_id AS "organizationId", job.job_id AS "jobId", job.lease_epoch AS "leaseEpoch"`,
);

/** As parallel arrays, in the order of their keys: each row is one call, and the first two name the key to the planner as well. */
function callArrays(calls: readonly OwnedCall[]): [string[], string[], number[]] {
  const sorted = calls.toSorted((a, b) => (a.organizationId + a.jobId < b.organizationId + b.jobId ? -1 : 1));
  return [
    sorted.map((call) => call.organizationId),
    sorted.map((call) => call.jobId),
    sorted.map((call) => call.leaseEpoch),
  ];
}
