import { functionStep } from "@stepwell/testing/functions/function-server.ts";
import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import { withoutReadLane } from "../faults/turned-off.ts";
import { type Ground, type HostileTenant, inTurn, submitJobs } from "./hostile-tenant.ts";

/** Has jobs of 300 steps with 1 MB each, and reads them over 16 connections. */
export const largeHistories: HostileTenant = {
  name: "large-histories",
  fix: {
    sentence:
      "Long reads have connections of their own, organizations pause after costly reads, and large answers are read and written in pieces.",
    turnedOffBy: [
      ...withoutReadLane,
      {
        file: "http/door/answers/large-answer.ts",
        text: "turns = turns.then(() => new Promise((resolve) => setImmediate(resolve)));",
        replacement: "",
      },
      {
        file: "store/jobs/job-values.ts",
        text: "const portionBytes = 1_000_000;",
        replacement: "const portionBytes = 16_000_000;",
      },
    ],
  },
  async prepare(ground: Ground) {
    const { api, organizationId } = ground;
    const name = (index: number) => `step-${index}`;
    const steps = Array.from({ length: stepCount }, (_, index) =>
      functionStep(name(index), "large", index + 1 < stepCount ? name(index + 1) : null),
    );
    const definition = { workflowName: "large", steps, definitions: { any: { type: "object" } } };
    const workflowId = await registerWorkflow(api, organizationId, definition);
    const jobIds = await submitJobs(ground, workflowId, jobCount);
    const jobs = `/organizations/${organizationId}/jobs`;
    for (const jobId of jobIds) await untilEnded(ground, `${jobs}/${jobId}`);
    const ways = ["", "/history?pageSize=200", "/state"];
    const paths = jobIds.flatMap((jobId) => ways.map((way) => `${jobs}/${jobId}${way}`));
    return (traffic) => traffic.keepReading(readerCount, inTurn(paths));
  },
};

const stepCount = 300;
const jobCount = 2;
const readerCount = 16;

async function untilEnded({ api }: Ground, path: string): Promise<void> {
  for (;;) {
    const { status } = await api.get<{ status: string }>(`${path}?waitSeconds=30`);
    if (status === "SUCCEEDED") return;
    if (status !== "RUNNING" && status !== "PENDING") throw new Error(`A job with large values is ${status}.`);
  }
}
