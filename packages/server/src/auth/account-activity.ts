import type { Timestamp } from "../core/time.ts";
import type { Queryable } from "../store/home/database.ts";
import { type AccountActivity, insertAccountActivity } from "../store/people/account-activity.ts";

export interface ActivityClock {
  now(): Timestamp;
  newId(): string;
}

export interface NewActivity extends Pick<AccountActivity, "userId" | "action" | "address"> {
  readonly details?: AccountActivity["details"];
}

/**
 * Writes an entry of a user's account activity, which the user can read. Call this in the transaction of the change, so that the entry and the
 * change are stored together or not at all.
 */
export async function recordAccountActivity(
  db: Queryable,
  clock: ActivityClock,
  { userId, action, address, details = {} }: NewActivity,
): Promise<void> {
  const activity = { userId, activityId: clock.newId(), happenedAt: clock.now(), action, address, details };
  await insertAccountActivity(db, activity);
}
