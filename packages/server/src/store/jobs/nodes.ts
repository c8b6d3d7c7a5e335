import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";

/** Renews this node's heartbeat and returns the database's time, by which the node sets its clock. */
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
 * Lists all nodes that ever had a heartbeat and were not removed. `isAlive` is true when the last heartbeat is younger than the lease, by the
 * database's clock. It does not decide whose calls may be taken over. The failure detector decides that: it measures with this node's own timer how
 * long a heartbeat has not changed.
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

export async function removeNode(db: Queryable, nodeId: string): Promise<void> {
  await db.query(removeNodeRow, [nodeId]);
}

const removeNodeRow = statement<never>("remove_node", "global", "DELETE FROM node WHERE node_id = $1");

/**
 * Deletes the row of a dead node, unless the node has renewed its heartbeat. Calls that the node still holds can be taken over later too, because a
 * node without a row does not count as living.
 */
export async function removeDeadNode(db: Queryable, { nodeId, heartbeatAt }: NodeRow): Promise<void> {
  await db.query(removeDeadNodeRow, [nodeId, new Date(heartbeatAt).toISOString()]);
}

/** The heartbeat's time was read in milliseconds, but the row has microseconds. */
const removeDeadNodeRow = statement<never>(
  "remove_dead_node",
  "global",
  "DELETE FROM node WHERE node_id = $1 AND date_trunc('milliseconds', heartbeat_at) = $2",
);
