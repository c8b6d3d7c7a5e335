import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import type { LoadBench } from "../load-bench.ts";
import { requireSuccess } from "../requests.ts";
import { countingLoop, smallInput } from "../workflows.ts";

/** Measures a transform that a condition repeats: it runs a thousand times. The submission waits for the result, so each job is one request. */
export const loop: LoadBench = {
  jobs: 20,
  concurrency: 1,
  warmUpJobs: 5,
  prepare: async ({ api, organizationId, requests }) => {
    const workflowId = await registerWorkflow(api, organizationId, countingLoop("loop", 1_000));
    const submit = Buffer.from(
      requests.post(`/organizations/${organizationId}/jobs?waitSeconds=30`, { workflowId, inputJson: smallInput }),
    );
    return async (connection) => requireSuccess(await connection.ask(submit));
  },
};
