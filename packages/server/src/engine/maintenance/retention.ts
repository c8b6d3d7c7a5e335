import type { Timestamp } from "../../core/time.ts";
import type { Database } from "../../store/home/database.ts";
import { deleteExpiredKeys } from "../../store/jobs/idempotency.ts";
import { deleteExpiredUserKeys } from "../../store/people/user-idempotency.ts";
import type { Duty } from "./duty.ts";

const hourMs = 3_600_000;
const maxRowsAtOnce = 5_000;

/** Deletes expired idempotency keys of organizations and of users, a bounded number at a time. */
export function retentionDuty(options: { database: Database; now: () => Timestamp; idempotencyHours: number }): Duty {
  return {
    name: "retention",
    everyMs: hourMs / 4,
    async runOnce() {
      const expiredBefore = options.now() - options.idempotencyHours * hourMs;
      const deleted = [
        await deleteExpiredUserKeys(options.database, expiredBefore, maxRowsAtOnce),
        await deleteExpiredKeys(options.database, expiredBefore, maxRowsAtOnce),
      ];
      return deleted.includes(maxRowsAtOnce) ? { againInMs: 0 } : undefined;
    },
  };
}
