import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import type { LoadBench } from "../load-bench.ts";
import { requireSuccess } from "../requests.ts";
import { smallInput, threeNoops } from "../workflows.ts";

/** Measures jobs of three no-op steps. The submission waits for the result, so each job is one request. */
export const noop3: LoadBench = {
  jobs: 20_000,
  concurrency: 100,
  prepare: async ({ api, organizationId, requests }) => {
    const workflowId = await registerWorkflow(api, organizationId, threeNoops("noop3"));
    const submit = Buffer.from(
      requests.post(`/organizations/${organizationId}/jobs?waitSeconds=30`, { workflowId, inputJson: smallInput }),
    );
    return async (connection) => requireSuccess(await connection.ask(submit));
  },
};
