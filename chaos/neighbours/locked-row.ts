import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import pg from "pg";
import { oneWait, smallInput } from "../../bench/workflows.ts";
import { type Ground, type HostileTenant, inTurn, submitJobs } from "./hostile-tenant.ts";

/** Tries to change a job whose row is locked by another session, such as a session that an operator has forgotten to close. */
export const lockedRow: HostileTenant = {
  name: "locked-row",
  stores: ["postgres"],
  fix: {
    sentence: "A commit passes over rows that another transaction has locked, and waits only briefly for other locks.",
    turnedOffBy: [
      {
        file: "store/jobs/jobs.ts",
        text: 'jobRows("FOR UPDATE SKIP LOCKED")',
        replacement: 'jobRows("FOR UPDATE")',
      },
      {
        file: "engine/commit/group-commit.ts",
        text: "{ lockTimeoutMs: shortLockTimeoutMs, isKeyed: true }",
        replacement: "{ isKeyed: true }",
      },
    ],
  },
  async prepare(ground: Ground) {
    const { api, organizationId, requests, databaseUrl } = ground;
    const workflowId = await registerWorkflow(api, organizationId, oneWait("locked", "awaited"));
    const [jobId] = await submitJobs(ground, workflowId, 1, smallInput);
    const job = `/organizations/${organizationId}/jobs/${jobId}`;
    const asked = [requests.post(`${job}/events`, { eventId: "awaited" }), requests.post(`${job}/cancel`)];
    return async (traffic) => {
      const session = new pg.Client({ connectionString: databaseUrl });
      await session.connect();
      await session.query("BEGIN");
      await session.query("SELECT FROM job WHERE organization_id = $1 AND job_id = $2 FOR UPDATE", [
        organizationId,
        jobId,
      ]);
      await traffic.keepAsking(8, inTurn(asked));
      await session.end();
    };
  },
};
