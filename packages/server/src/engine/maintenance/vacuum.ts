import type { Database } from "../../store/home/database.ts";
import type { Duty } from "./duty.ts";

/**
 * Vacuums the embedded store. That store has no background workers that remove dead rows and count the living ones for the query planner. A vacuum
 * blocks the process while it runs, so each run takes one table only.
 */
export function vacuumDuty(database: Database): Duty {
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
  ];
  let next = 0;
  return {
    name: "vacuum",
    everyMs: 120_000,
    async runOnce() {
      const table = tables[next % tables.length];
      next += 1;
      if (table !== undefined) await database.vacuum(table);
      // In this table, each commit and each call leaves a dead row within seconds, and there are hardly any living rows.
      await database.vacuum("metric_change");
      await database.vacuum("job_call");
      await database.vacuum("job_notice");
      return undefined;
    },
  };
}
