import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import type { PlanStep } from "../../src/core/plan/plan.ts";
import { Dispatcher } from "../../src/engine/dispatcher.ts";
import { type Executor, executorMap } from "../../src/engine/executor.ts";
import { call, Story } from "../core/jobs.ts";

const leaseTerm = 1;
const type = "/service/cloud/function";
const answering: Executor = {
  type,
  title: "Answers at once",
  summary: "Answers at once.",
  behaviour: "call",
  configSchema: {},
  call: async () => ({ type: "succeeded", output: {} }),
};

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("what a call needed is free again when it is done, and not only when its timeout is over", async () => {
  let reportCount = 0;
  const dispatcher = new Dispatcher({
    executors: executorMap([answering]),
    report: async () => {
      reportCount += 1;
    },
    handBack: async () => {},
    lease: { isLeaseValid: () => true, leaseTerm: () => leaseTerm },
    isOwner: async () => true,
    maxCalls: 1,
    maxCallsPerOrganization: 1,
    maxQueuedCalls: 1,
    defaultTimeoutMs: 900_000,
    random: Math.random,
    onDefect: (error) => expect.unreachable(String(error)),
  });
  const step = beginCall(dispatcher);
  await vi.waitFor(() => expect([reportCount, dispatcher.runningCount]).toEqual([1, 0]), { interval: 5 });

  await vi.waitFor(() => {
    collectGarbage();
    expect(step.deref()).toBeUndefined();
  });
});

/** Of a job that has just come to its call. Answers the called step, which nobody but the dispatcher holds. */
function beginCall(dispatcher: Dispatcher): WeakRef<PlanStep> {
  const { plan, job, changes } = new Story([call("f", null)]);
  const [change] = changes;
  dispatcher.take({ job, plan, call: change?.effects[0], entries: change?.entries ?? [] }, leaseTerm);
  return new WeakRef(plan.firstStep);
}
