import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";

export interface UsageChange {
  /** The name of the counter: the owner and the kind of its requests. */
  readonly subject: string;
  readonly change: number;
}

export interface UsageTotal {
  readonly subject: string;
  readonly usedCount: number;
}

/** Adds to the counters of one minute, and returns what all nodes together have added so far. */
export async function addUsage(
  db: Queryable,
  minute: Timestamp,
  changes: readonly UsageChange[],
): Promise<UsageTotal[]> {
  if (changes.length === 0) return [];
  const subjects = changes.map(({ subject }) => subject);
  return await db.query(addUsageRows, [new Date(minute).toISOString(), subjects, changes.map(({ change }) => change)]);
}

// Every node writes the rows in the same order, so that two nodes cannot deadlock.
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

/** Reads what all nodes together have added in this minute. Subjects without any use are left out. */
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

/** Deletes the counters of the minutes before this one. */
export async function deleteUsageBefore(db: Queryable, minute: Timestamp): Promise<void> {
  await db.query(deleteOldUsage, [new Date(minute).toISOString()]);
}

const deleteOldUsage = statement<never>("delete_old_rate_usage", "global", "DELETE FROM rate_usage WHERE minute < $1");
