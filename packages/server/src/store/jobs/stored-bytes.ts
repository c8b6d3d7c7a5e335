import { type Database, type Queryable, statement } from "../home/database.ts";

/**
 * Estimates how many bytes each of these organizations stores: what its jobs and its versions have added. An addition counts as soon as it is in
 * the rollups, which takes a few seconds. Organizations that store nothing are left out.
 */
export async function readStoredBytes(
  db: Database,
  organizationIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const groups = Map.groupBy(organizationIds, (organizationId) => db.groupOf(organizationId));
  const rows = await Promise.all([...groups.values()].map((ids) => db.query(readStoredBytesRows, [ids])));
  return new Map(rows.flat().map(({ organizationId, storedBytes }) => [organizationId, storedBytes]));
}

/** Estimates how many bytes one organization stores (`readStoredBytes`). */
export async function readStoredBytesOf(db: Queryable, organizationId: string): Promise<number> {
  const [row] = await db.query(readStoredBytesRows, [[organizationId]]);
  return row?.storedBytes ?? 0;
}

/** Adds up the daily sums over all workflows. So a year has only as many rows as days. */
const readStoredBytesRows = statement<{ organizationId: string; storedBytes: number }>(
  "read_stored_bytes",
  "organization",
  `SELECT organization_id AS "organizationId", sum(count)::double precision AS "storedBytes"
   FROM metric_rollup
   WHERE organization_id = ANY($1::uuid[]) AND workflow_id = '00000000-0000-0000-0000-000000000000'
     AND measure = 'storedBytes' AND bucket_seconds = 86400
   GROUP BY organization_id`,
);
