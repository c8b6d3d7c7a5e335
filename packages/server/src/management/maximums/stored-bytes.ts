import { randomUUID } from "node:crypto";
import { type Maximum, type MaximumName, maximumOf } from "../../config.ts";
import { ChangeSum } from "../../core/job/metrics/metric-change.ts";
import type { Timestamp } from "../../core/time.ts";
import { isFull, megabytesOf, storeFull } from "../../engine/maintenance/stored-bytes.ts";
import { findOrganizationLimits } from "../../store/access/organization-limits.ts";
import type { Queryable, Transaction } from "../../store/home/database.ts";
import { insertMetricChanges } from "../../store/jobs/metric-rollups.ts";
import { readStoredBytesOf } from "../../store/jobs/stored-bytes.ts";
import type { WorkflowKey } from "../../store/workflows/workflows.ts";
import type { ManagementParts, UsedMaximum } from "../act/act.ts";

/** Throws 409 when the organization already stores as much as it may. The stored bytes are those that have been counted so far. */
export async function requireStoreRoom(
  db: Queryable,
  parts: Pick<ManagementParts, "config">,
  organizationId: string,
): Promise<void> {
  const { maximum } = await readStoredMaximum(db, parts, organizationId);
  if (isFull(await readStoredBytesOf(db, organizationId), maximum)) throw storeFull(maximum);
}

/** Adds to the stored bytes of the organization. The bytes of its jobs are counted elsewhere. */
export async function noteStoredBytes(
  transaction: Transaction,
  { organizationId, workflowId }: WorkflowKey,
  bytes: number,
  at: Timestamp,
): Promise<void> {
  const sum = new ChangeSum();
  sum.add(workflowId, [{ measure: "storedBytes", at, count: bytes, durationMs: null }]);
  await insertMetricChanges(transaction, randomUUID(), [{ organizationId, changes: sum.changes }]);
}

/** Reads how many megabytes the organization may store, and about how many it stores. */
export async function readStoredUse(
  db: Queryable,
  parts: Pick<ManagementParts, "config">,
  organizationId: string,
): Promise<UsedMaximum<MaximumName>> {
  const maximum = await readStoredMaximum(db, parts, organizationId);
  return { ...maximum, usedCount: megabytesOf(await readStoredBytesOf(db, organizationId)) };
}

async function readStoredMaximum(
  db: Queryable,
  { config }: Pick<ManagementParts, "config">,
  organizationId: string,
): Promise<Maximum> {
  const { maximums = {} } = (await findOrganizationLimits(db, organizationId)) ?? {};
  return maximumOf(config, maximums, "storedMb");
}
