import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import type { LoadBench } from "../load-bench.ts";
import { hasSucceeded, jobIdIn } from "../requests.ts";
import { smallInput, threeNoops } from "../workflows.ts";

/** Measures jobs of three no-op steps: the client submits a job, then asks for it until it has succeeded. */
export const noop3Poll: LoadBench = {
  jobs: 20_000,
  concurrency: 100,
  prepare: async ({ api, organizationId, requests }) => {
    const workflowId = await registerWorkflow(api, organizationId, threeNoops("noop3-poll"));
    const jobs = `/organizations/${organizationId}/jobs`;
    const submit = Buffer.from(requests.post(jobs, { workflowId, inputJson: smallInput }));
    return async (connection) => {
      const jobId = jobIdIn(await connection.ask(submit));
      const ask = requests.get(`${jobs}/${jobId}`);
      for (let poll = 0; poll < maxPolls; poll += 1) {
        if (hasSucceeded(await connection.ask(ask))) return;
      }
      throw new Error(`Job ${jobId} has not succeeded after ${maxPolls} polls.`);
    };
  },
};

/** A job that never ends must stop the bench with an error. */
const maxPolls = 10_000;
