import { ask } from "@stepwell/testing/audit-rows.ts";
import type { TestService } from "@stepwell/testing/service.ts";

/** Returns every row of the compared tables as text, without the times of last use. */
export async function rowsOfStore({ running: { database } }: TestService): Promise<ReadonlySet<string>> {
  const tables = await ask<{ name: string }>(
    database,
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'",
  );
  const found = new Set<string>();
  for (const { name } of tables.filter(({ name }) => !countersOf.has(name))) {
    const text = `SELECT (to_jsonb(found) - '{last_used_at,last_seen_at}'::text[])::text AS row FROM "${name}" AS found`;
    for (const { row } of await ask<{ row: string }>(database, text)) found.add(`${name} ${row}`);
  }
  return found;
}

/** The tables that are not compared: those of heartbeats, counts and sums, and those of seals. The audit entries themselves are compared. */
const countersOf: ReadonlySet<string> = new Set([
  "node",
  "rate_usage",
  "sign_in_backoff",
  "metric_change",
  "metric_rollup",
  "audit_unsealed",
  "audit_seal",
  "audit_sealed",
]);

/** Returns the rows that appeared, and those that disappeared. */
export function changedRows(before: ReadonlySet<string>, after: ReadonlySet<string>): readonly string[] {
  return [...before.symmetricDifference(after)];
}

/** Tells whether the row records the denial of one of these requests in this organization. */
export function isDenialOf(row: string, organizationId: string, requestIds: ReadonlySet<string>): boolean {
  const { table, columns } = partsOf(row);
  const isDenial = table === "audit_entry" && columns.outcome === "denied";
  return isDenial && columns.organization_id === organizationId && requestIds.has(String(columns.request_id));
}

export function isRowOf(row: string, owner: { readonly organizationId: string; readonly userId: string }): boolean {
  const { columns } = partsOf(row);
  return columns.organization_id === owner.organizationId || columns.user_id === owner.userId;
}

/** Tells whether the row records that workers of the organization polled. Such rows are written some seconds after the poll. */
export function isWorkerSeen(row: string, organizationId: string): boolean {
  const { table, columns } = partsOf(row);
  return (table === "task_worker" || table === "task_queue") && columns.organization_id === organizationId;
}

/** Tells whether the row belongs to a sign-in and has expired: the service deletes such rows some minutes later. */
export function isExpiredSignIn(row: string): boolean {
  const { table, columns } = partsOf(row);
  return table === "oidc_record" && Date.parse(String(columns.expires_at)) < Date.now();
}

function partsOf(row: string): { readonly table: string; readonly columns: Readonly<Record<string, unknown>> } {
  const end = row.indexOf(" ");
  return { table: row.slice(0, end), columns: JSON.parse(row.slice(end + 1)) };
}
