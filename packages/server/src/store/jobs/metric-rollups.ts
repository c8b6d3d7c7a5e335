import type { MetricChange, MetricRollup } from "../../core/job/metrics/metric-change.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";
import { requireAllWritten, type Written } from "../home/written.ts";

export interface OrganizationChanges {
  readonly organizationId: string;
  readonly changes: readonly MetricChange[];
}

/** Stores what one commit adds to metrics. Call it in the transaction of that commit, so that exactly the committed changes are counted. */
export async function insertMetricChanges(
  transaction: Transaction,
  changeId: string,
  added: readonly OrganizationChanges[],
): Promise<void> {
  const rows = added.flatMap(({ organizationId, changes }) =>
    changes.length === 0 ? [] : { organization_id: organizationId, changes: changes.map(writtenChange) },
  );
  if (rows.length === 0) return;
  const organizations = rows.map((row) => row.organization_id);
  const written = await transaction.query(insertMetricChangeRows, [JSON.stringify(rows), changeId, organizations]);
  if (written.length !== rows.length) throw new Error("An organization with changed metrics does not exist.");
}

const insertMetricChangeRows = statement<{ organizationId: string }>(
  "insert_metric_changes",
  "organization",
  `INSERT INTO metric_change (organization_id, change_id, changes)
   SELECT organization.organization_id, $2::uuid, new.changes
   FROM json_to_recordset($1) AS new (organization_id uuid, changes json)
   JOIN organization ON organization.organization_id = new.organization_id
   WHERE organization.organization_id = ANY($3::uuid[])
   RETURNING organization_id AS "organizationId"`,
);

/** The names are short because each commit writes them. */
function writtenChange({ workflowId, measure, hour, durationClass, count, totalMs, maxMs }: MetricChange) {
  return { workflow: workflowId, measure, hour, class: durationClass, count, total: totalMs, max: maxMs };
}

/** The fields of `metric_change.changes`, for `json_to_recordset`. */
export const changeColumns =
  "workflow uuid, measure text, hour integer, class smallint, count bigint, total bigint, max bigint";

/** Lists organizations with changes that are not added to the rollups yet, in the order of their ids, beginning after `afterId`. */
export async function findChangedOrganizations(
  db: Queryable,
  afterId: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await db.query(findChangedOrganizationRows, [afterId, limit]);
  return rows.map(({ organizationId }) => organizationId);
}

const findChangedOrganizationRows = statement<{ organizationId: string }>(
  "find_organizations_with_metric_changes",
  "maintenance",
  `SELECT DISTINCT organization_id AS "organizationId"
   FROM metric_change
   WHERE $1::uuid IS NULL OR organization_id > $1
   ORDER BY organization_id
   LIMIT $2`,
  "once",
  { order: ["organizationId"], restMs: 5_000 },
);

/**
 * Takes changes out of the table for this transaction alone. Another node that adds changes to the rollups at the same time takes other changes.
 */
export async function takeMetricChanges(
  transaction: Transaction,
  organizationId: string,
  limit: number,
): Promise<MetricChange[]> {
  const taken = await transaction.query(lockMetricChangeRows, [organizationId, limit]);
  if (taken.length === 0) return [];
  await transaction.query(deleteMetricChangeRows, [organizationId, taken.map(({ changeId }) => changeId)]);
  return taken.flatMap(({ changes }) =>
    changes.map((change) => ({
      workflowId: change.workflow,
      measure: change.measure,
      hour: change.hour,
      durationClass: change.class,
      count: change.count,
      totalMs: change.total,
      maxMs: change.max,
    })),
  );
}

const lockMetricChangeRows = statement<{ changeId: string; changes: ReturnType<typeof writtenChange>[] }>(
  "lock_metric_changes",
  "organization",
  `SELECT change_id AS "changeId", changes
   FROM metric_change
   WHERE organization_id = $1
   LIMIT $2
   FOR UPDATE SKIP LOCKED`,
);

const deleteMetricChangeRows = statement<never>(
  "delete_metric_changes",
  "organization",
  "DELETE FROM metric_change WHERE organization_id = $1 AND change_id = ANY($2::uuid[])",
);

/** The rows are written in the order of their keys, so that two nodes cannot deadlock. */
export async function addToRollups(
  transaction: Transaction,
  organizationId: string,
  added: readonly MetricRollup[],
): Promise<void> {
  if (added.length === 0) return;
  const rows = added.map((row) => ({
    workflow_id: row.workflowId,
    measure: row.measure,
    bucket_seconds: row.bucketSeconds,
    bucket: row.bucket,
    duration_class: row.durationClass,
    count: row.count,
    total_ms: row.totalMs,
    max_ms: row.maxMs,
  }));
  const written = await transaction.query(addToRollupRows, [JSON.stringify(rows), organizationId]);
  requireAllWritten(written, rows.length, "rollups");
}

const addToRollupRows = statement<Written>(
  "add_to_metric_rollups",
  "organization",
  `INSERT INTO metric_rollup AS held (organization_id, workflow_id, measure, bucket_seconds, bucket, duration_class, count, total_ms, max_ms)
   SELECT organization.organization_id, new.workflow_id, new.measure, new.bucket_seconds, new.bucket, new.duration_class, new.count,
     new.total_ms, new.max_ms
   FROM json_to_recordset($1) AS new (workflow_id uuid, measure text, bucket_seconds integer, bucket integer, duration_class smallint,
     count bigint, total_ms bigint, max_ms bigint)
   JOIN organization ON organization.organization_id = $2
   WHERE organization.organization_id = $2
   ORDER BY new.workflow_id, new.measure, new.bucket_seconds, new.bucket, new.duration_class
   ON CONFLICT (organization_id, workflow_id, measure, bucket_seconds, bucket, duration_class) DO UPDATE
   SET count = held.count + excluded.count, total_ms = held.total_ms + excluded.total_ms,
     max_ms = greatest(held.max_ms, excluded.max_ms)
   RETURNING 1 AS written`,
);
