import { functionStep } from "@stepwell/testing/functions/function-server.ts";
import { said } from "@stepwell/testing/notes.ts";
import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import { type Ground, type HostileTenant, inTurn, submitJobs } from "./hostile-tenant.ts";

/** Has `--jobs` (by default 300,000) jobs that wait for their turn to call a slow function, and lists them again and again. */
export const pendingJobs: HostileTenant = {
  name: "pending-jobs",
  fix: {
    sentence:
      "When many jobs are due, the versions with due jobs take turns, and a turn wakes only some jobs of a version.",
    turnedOffBy: [
      {
        file: "engine/maintenance/timers.ts",
        text: "const isBacklog = wasCutShort || oldest.length === maxDueJobs;",
        replacement: "const isBacklog = false;",
      },
    ],
  },
  async prepare(ground: Ground) {
    const { api, organizationId, requests, jobs: jobCount } = ground;
    const definition = {
      workflowName: "pending",
      steps: [functionStep("call", "slow", null)],
      definitions: { any: { type: "object" } },
    };
    const workflowId = await registerWorkflow(api, organizationId, definition);
    const [model] = await submitJobs(ground, workflowId, 1);
    await ground.withStore(async (database) => {
      const now = Date.now();
      const progress = { stepRunCount: 0, visits: {}, properties: {}, bufferedEvents: {}, eventCount: 0 };
      const pending = {
        status: "PENDING",
        sequence: 1,
        lease_epoch: 0,
        call_count: 0,
        wake_at: new Date(now).toISOString(),
        awaiting_event_ids: null,
        started_at: null,
        finished_at: null,
        state: { status: "PENDING", progress, resumeAt: null, wakeAt: now },
      };
      for (let first = 0; first < jobCount; first += maxJobsAtOnce) {
        const last = Math.min(first + maxJobsAtOnce, jobCount) - 1;
        await database.query(said(copyJob), [organizationId, model, JSON.stringify(pending), first, last]);
      }
    });
    const jobs = `/organizations/${organizationId}/jobs`;
    const lists = ["?status=PENDING&includeTotal=true", "?pageSize=200", `?workflowId=${workflowId}`];
    return (traffic) => traffic.keepAsking(4, inTurn(lists.map((list) => requests.get(`${jobs}${list}`))));
  },
};

/** The jobs are inserted in several statements, so that no statement takes long. */
const maxJobsAtOnce = 20_000;

/** Copies the model job. Each copy has an id of its own, the given values in some columns, and the values of the model in all other columns. */
const copyJob = `
  INSERT INTO job
  SELECT copy.*
  FROM job CROSS JOIN generate_series($4::integer, $5::integer) AS number
  CROSS JOIN LATERAL jsonb_populate_record(job, $3::jsonb || jsonb_build_object('job_id', md5($2::text || number)::uuid)) AS copy
  WHERE job.organization_id = $1::uuid AND job.job_id = $2::uuid`;
