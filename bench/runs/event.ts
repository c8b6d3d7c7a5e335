import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import type { Connection } from "../connection.ts";
import { runJobs } from "../load.ts";
import type { LoadBench } from "../load-bench.ts";
import { jobIdIn, requireStatus, requireSuccess } from "../requests.ts";
import type { Target } from "../target/target.ts";
import { oneWait, smallInput } from "../workflows.ts";

/** Measures jobs that wait for one event: the client sends the event, then waits for the end of the job. */
export const event: LoadBench = {
  jobs: 5_000,
  concurrency: 100,
  prepare: async (target, connections, count) => {
    const { organizationId, requests } = target;
    const jobIds = await makeWaitingJobs(target, connections, Math.max(count, leastWaiting));
    return async (connection, index) => {
      const job = `/organizations/${organizationId}/jobs/${jobIds[index]}`;
      requireStatus(await connection.ask(requests.post(`${job}/events`, { eventId })), 200, 201);
      requireSuccess(await connection.ask(requests.get(`${job}?waitSeconds=30`)));
    };
  },
};

const eventId = "approved";
/** An event must find its job among many waiting jobs, even if only a few of them are measured. */
const leastWaiting = 5_000;

async function makeWaitingJobs(
  { api, organizationId, requests }: Target,
  connections: readonly Connection[],
  count: number,
): Promise<string[]> {
  const workflowId = await registerWorkflow(api, organizationId, oneWait("event", eventId));
  const submit = Buffer.from(
    requests.post(`/organizations/${organizationId}/jobs`, { workflowId, inputJson: smallInput }),
  );
  const jobIds: string[] = [];
  const submitOne = async (connection: Connection) => {
    jobIds.push(jobIdIn(await connection.ask(submit)));
  };
  await runJobs(connections, submitOne, { from: 0, to: count });
  return jobIds;
}
