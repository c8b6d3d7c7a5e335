import type { Timestamp } from "../../core/job/job-state.ts";
import { type Queryable, statement } from "../home/database.ts";

export interface UsageChange {
  /** Of what the requests are counted. */
  readonly subject: string;
  readonly change: number;
}

export interface UsageTotal {
  readonly subject: string;
  readonly usedCount: number;
}

/** Adds to the counts of one minute, and answers what all nodes together have added by then. */
export async function addUsage(
  db: Queryable,
  minute: Timestamp,
  changes: readonly UsageChange[],
): Promise<UsageTotal[]> {
  if (changes.length === 0) return [];
  const subjects = changes.map(({ subject }) => subject);
  return await db.query(addUsageRows, [new Date(minute).toISOString(), subjects, changes.map(({ change }) => change)]);
}

// In one order, or two nodes would lock each other out.
const addUsageRows = statement<UsageTotal>(
  "add_rate_usage",
  "global",
  `INSERT INTO rate_usage (minute, subject, used_count)
   SELECT $1, given.subject, given.used_count
   FROM unnest($2::text[], $3::bigint[]) AS given (subject, used_count)
   ORDER BY given.subject
   ON CONFLICT (minute, subject) DO UPDATE SET used_count = rate_usage.used_count + excluded.used_count
   RETURNING subject, used_count AS "usedCount"`,
);

/** What all nodes together have added in this minute; those of which nobody did are left out. */
export async function readUsage(db: Queryable, minute: Timestamp, subjects: readonly string[]): Promise<UsageTotal[]> {
  return await db.query(findUsageRows, [new Date(minute).toISOString(), subjects]);
}

const findUsageRows = statement<UsageTotal>(
  "find_rate_usage",
  "global",
  `SELECT subject, used_count AS "usedCount"
   FROM rate_usage
   WHERE minute = $1 AND subject = ANY($2::text[])`,
);

/** Forgets the minutes before this one. */
export async function deleteUsageBefore(db: Queryable, minute: Timestamp): Promise<void> {
  await db.query(deleteOldUsage, [new Date(minute).toISOString()]);
}

const deleteOldUsage = statement<never>("delete_old_rate_usage", "global", "DELETE FROM rate_usage WHERE minute < $1");
