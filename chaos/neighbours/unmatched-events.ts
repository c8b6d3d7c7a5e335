import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import { oneWait, smallInput } from "../../bench/workflows.ts";
import { withoutReadLane } from "../faults/turned-off.ts";
import { type Ground, type HostileTenant, inTurn, submitJobs } from "./hostile-tenant.ts";

/** Fills one job after the other with 10,000 events that no step waits for, and reads the first job, its events, history and explanation. */
export const unmatchedEvents: HostileTenant = {
  name: "unmatched-events",
  fix: {
    sentence:
      "Long reads have connections of their own, organizations pause after costly reads, and histories are read in slices.",
    turnedOffBy: [
      ...withoutReadLane,
      {
        file: "engine/reading/job-history.ts",
        text: "const maxCommitsAtOnce = 500;",
        replacement: "const maxCommitsAtOnce = 100_000;",
      },
    ],
  },
  async prepare(ground: Ground) {
    const { api, organizationId, requests } = ground;
    const workflowId = await registerWorkflow(api, organizationId, oneWait("unmatched", "awaited"));
    const jobIds = await submitJobs(ground, workflowId, jobCount, smallInput);
    const [full, ...others] = jobIds.map((jobId) => `/organizations/${organizationId}/jobs/${jobId}`);
    let sentCount = 0;
    const nextEvent = (job: string | undefined) => {
      sentCount += 1;
      return { path: `${job}/events`, body: { eventId: `unmatched-${sentCount}`, payload: { note: "of no use" } } };
    };
    while (sentCount < eventCount) {
      const batch = Array.from({ length: 50 }, () => nextEvent(full));
      await Promise.all(batch.map(({ path, body }) => api.post(path, body)));
    }
    const reads = ["", "/events?pageSize=200", "/history?pageSize=200", "/explain"].map((way) => `${full}${way}`);
    return async (traffic) => {
      const send = () => {
        // After every 10,000 events, `send` goes on to the next job.
        const { path, body } = nextEvent(others[Math.floor(sentCount / eventCount) % others.length]);
        return requests.post(path, body);
      };
      const read = inTurn(reads.map((path) => requests.get(path)));
      await Promise.all([traffic.keepAsking(8, send), traffic.keepAsking(4, read)]);
    };
  },
};

const eventCount = 10_000;
const jobCount = 50;
