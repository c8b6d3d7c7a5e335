import { setInterval as ticks } from "node:timers/promises";
import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import { oneWait, smallInput } from "../../bench/workflows.ts";
import { type Ground, type HostileTenant, inTurn, submitJobs } from "./hostile-tenant.ts";

/** Watches 100 jobs with 5,000 streams (50 for each job), and sends the jobs 20 events a second in total. */
export const watchers: HostileTenant = {
  name: "watchers",
  fix: {
    sentence:
      "A stream reads its job only when the job has changed or a heartbeat is due, and the reads of one turn of the event loop share a statement.",
    turnedOffBy: [
      {
        file: "http/jobs/job-stream.ts",
        text: "isNew || looks % looksPerHeartbeat === 0 ?",
        replacement: "isNew || looks > 0 ?",
      },
      {
        file: "engine/reading/turn-reads.ts",
        text: "const maxReadsAtOnce = 200;",
        replacement: "const maxReadsAtOnce = 1;",
      },
    ],
  },
  async prepare(ground: Ground) {
    const { api, organizationId } = ground;
    const workflowId = await registerWorkflow(api, organizationId, oneWait("watched", "awaited"));
    const jobIds = await submitJobs(ground, workflowId, jobCount, smallInput);
    const jobs = jobIds.map((jobId) => `/organizations/${organizationId}/jobs/${jobId}`);
    return async (traffic, end) => {
      const watching = traffic.keepReading(watcherCount, inTurn(jobs.map((job) => `${job}/stream`)));
      await Promise.all([watching, happen(ground, jobs, end)]);
    };
  },
};

const watcherCount = 5_000;
const jobCount = 100;
const happeningsPerSecond = 20;

async function happen({ api }: Ground, jobs: readonly string[], end: AbortSignal): Promise<void> {
  const nextJob = inTurn(jobs);
  let count = 0;
  for await (const _ of ticks(1_000 / happeningsPerSecond)) {
    if (end.aborted) return;
    count += 1;
    // Errors are ignored here, since only the requests of the neighbour are measured.
    await api.post(`${nextJob()}/events`, { eventId: `unmatched-${count}` }).catch(() => {});
  }
}
