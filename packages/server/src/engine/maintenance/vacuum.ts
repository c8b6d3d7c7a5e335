import type { Upkeep } from "../../store/home/database.ts";
import type { Duty } from "./duty.ts";

/**
 * Vacuums the embedded store. That store has no background workers that remove dead rows and count the living ones for the query planner. A vacuum
 * blocks the process while it runs, so each run of this duty vacuums one table of the list, and three tables that stay small.
 */
export function vacuumDuty(upkeep: Upkeep): Duty {
  const tables = [
    "job",
    "job_history",
    "job_value",
    "job_event",
    "idempotency_key",
    "node",
    "api_token",
    "workflow_tag",
    "oidc_record",
    "user_session",
    "audit_unsealed",
    "audit_sealed",
    "metric_rollup",
    "child_job",
    "job_tree",
    "task_queue",
    "task_worker",
    "rate_usage",
    "sign_in_backoff",
    "user_token",
    "account_activity",
    "refresh_exchange",
    "password_link",
    "user_idempotency_key",
  ];
  let next = 0;
  return {
    name: "vacuum",
    everyMs: 120_000,
    async runOnce() {
      const table = tables[next % tables.length];
      next += 1;
      if (table !== undefined) await upkeep.vacuum(table);
      // Most rows of these tables are deleted within seconds. So dead rows pile up fast, and there are usually few living rows.
      await upkeep.vacuum("metric_change");
      await upkeep.vacuum("job_call");
      await upkeep.vacuum("job_notice");
      // Tables that are not named in this file change rarely, so only their age makes a vacuum necessary.
      await upkeep.freezeOldest(oldTransactions);
      return undefined;
    },
  };
}

/** A twentieth of the number of transactions after which rows that are not frozen vanish. */
const oldTransactions = 100_000_000;
