import type { Timestamp } from "../../core/time.ts";
import { deleteInvitationsExpiredBefore } from "../../store/access/invitations.ts";
import type { Database } from "../../store/home/database.ts";
import { deleteOldAccountActivity } from "../../store/people/account-activity.ts";
import type { Duty } from "./duty.ts";

export interface PeopleRetentionOptions {
  readonly database: Database;
  readonly now: () => Timestamp;
  readonly accountActivityDays: number;
  readonly invitationDays: number;
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const maxRowsAtOnce = 5_000;

/** Deletes old account activity, and invitations that expired long ago, a bounded number at a time. */
export function peopleRetentionDuty({ database, now, ...kept }: PeopleRetentionOptions): Duty {
  return {
    name: "people-retention",
    everyMs: hourMs,
    async runOnce() {
      const deleted = [
        await deleteOldAccountActivity(database, now() - kept.accountActivityDays * dayMs, maxRowsAtOnce),
        await deleteInvitationsExpiredBefore(database, now() - kept.invitationDays * dayMs, maxRowsAtOnce),
      ];
      return deleted.includes(maxRowsAtOnce) ? { againInMs: 0 } : undefined;
    },
  };
}
