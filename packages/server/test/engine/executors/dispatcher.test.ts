import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import { mainBranch } from "../../../src/core/branch-path.ts";
import type { UntimedFact } from "../../../src/core/job/fact.ts";
import type { PlanStep } from "../../../src/core/plan/plan.ts";
import { Dispatcher, type DispatcherOptions } from "../../../src/engine/calls/dispatcher.ts";
import { type Executor, executorMap } from "../../../src/engine/executors/executor.ts";
import { StoreUnavailableError } from "../../../src/store/home/database.ts";
import { call, Story } from "../../core/job/jobs.ts";

const leaseTerm = 1;
/** The time that a busy machine may take. */
const waitOptions = { interval: 5, timeout: 10_000 };
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

test("the resources of a call are released when the call ends, and not only after its timeout", async () => {
  let reportCount = 0;
  const dispatcher = new Dispatcher({
    executors: executorMap([answering]),
    report: async () => {
      reportCount += 1;
    },
    handBack: async () => {},
    lease: { isLeaseValid: () => true, leaseTerm: () => leaseTerm },
    isHolder: async () => true,
    noteBegun: async () => true,
    makeChild: async () => undefined,
    maxCalls: 1,
    maxCallsPerOrganization: 1,
    maxQueuedCalls: 1,
    defaultTimeoutMs: 900_000,
    random: Math.random,
    onDefect: (error) => expect.unreachable(String(error)),
  });
  const step = beginCall(dispatcher);
  await vi.waitFor(() => expect([reportCount, dispatcher.runningCount]).toEqual([1, 0]), waitOptions);

  await vi.waitFor(() => {
    collectGarbage();
    expect(step.deref()).toBeUndefined();
  }, waitOptions);
});

/** Makes a dispatcher whose calls answer when the test tells them to. `begun` has the calls that have begun. */
function heldDispatcher(more: Partial<DispatcherOptions> = {}) {
  const begun: string[] = [];
  const answers = new Map<string, () => void>();
  const held: Executor = {
    type,
    title: "Answers when the test says so",
    summary: "Notes that it was called, and waits.",
    behaviour: "call",
    configSchema: {},
    call: async ({ jobId }) => {
      begun.push(jobId);
      await new Promise<void>((resolve) => answers.set(jobId, resolve));
      return { type: "succeeded", output: {} };
    },
  };
  const dispatcher = new Dispatcher({
    executors: executorMap([held]),
    report: async () => {},
    handBack: async () => {},
    lease: { isLeaseValid: () => true, leaseTerm: () => leaseTerm },
    isHolder: async () => true,
    noteBegun: async () => true,
    makeChild: async () => undefined,
    maxCalls: 10,
    maxCallsPerOrganization: 10,
    maxQueuedCalls: 10,
    defaultTimeoutMs: 900_000,
    random: Math.random,
    onDefect: (error) => expect.unreachable(String(error)),
    ...more,
  });
  return { dispatcher, begun, answer: (jobId: string) => answers.get(jobId)?.() };
}

/** Hands the dispatcher a job's call that was lost with its node this many times. */
function takeCall(dispatcher: Dispatcher, jobId: string, interruptions: number, isNoted = false): void {
  const story = new Story([call("f", null)]);
  for (let count = 0; count < interruptions; count += 1) {
    story.interrupt();
  }
  const effect = story.changes.at(-1)?.effects[0];
  const calls = effect === undefined ? [] : [{ effect, begun: isNoted }];
  dispatcher.take({ job: { ...story.job, jobId }, plan: story.plan, calls, entries: [] }, leaseTerm);
}

const mainOf = (jobId: string) => ({ jobId, branch: mainBranch });

test("calls that were lost with two nodes run one at a time, and all other calls run beside them", async () => {
  const { dispatcher, begun, answer } = heldDispatcher();
  for (const jobId of ["suspect 1", "suspect 2", "suspect 3"]) takeCall(dispatcher, jobId, 2);
  takeCall(dispatcher, "lost once", 1);

  await vi.waitFor(() => expect(begun).toEqual(["suspect 1", "lost once"]), waitOptions);
  expect([
    dispatcher.waitingCount,
    dispatcher.owes(mainOf("suspect 3")),
    dispatcher.hasBegun(mainOf("suspect 3")),
  ]).toEqual([2, true, false]);
  answer("suspect 1");
  await vi.waitFor(() => expect(begun.slice(2)).toEqual(["suspect 2"]), waitOptions);
  answer("suspect 2");
  await vi.waitFor(() => expect(begun.slice(3)).toEqual(["suspect 3"]), waitOptions);
});

test("a suspect call that gets no answer delays the next suspect call only for the time of one turn", async () => {
  const { dispatcher, begun } = heldDispatcher({ suspectTurnMs: 20 });
  for (const jobId of ["suspect 1", "suspect 2"]) takeCall(dispatcher, jobId, 2);
  await vi.waitFor(() => expect(begun).toEqual(["suspect 1", "suspect 2"]), waitOptions);
});

test("a call that waited begins only after the store has recorded its start, and never if another node holds the call", async () => {
  const noted: string[] = [];
  const { dispatcher, begun } = heldDispatcher({
    noteBegun: async ({ jobId }) => {
      noted.push(jobId);
      if (noted.filter((id) => id === "store away").length === 1 && jobId === "store away") {
        throw new StoreUnavailableError("unknown", new Error("It is away."));
      }
      return jobId !== "lost";
    },
  });
  takeCall(dispatcher, "at once", 0, true);
  for (const jobId of ["lost", "waited", "store away"]) takeCall(dispatcher, jobId, 0);

  await vi.waitFor(() => expect(begun).toEqual(["at once", "waited", "store away"]), waitOptions);
  expect(noted).toEqual(["lost", "waited", "store away", "store away"]);
  expect(dispatcher.owes(mainOf("lost"))).toBe(false);
});

test("two calls of one job in different branches run side by side, each under its own key and name", async () => {
  const told: UntimedFact[] = [];
  const both = Promise.withResolvers<void>();
  let begunCount = 0;
  const meeting: Executor = {
    ...answering,
    call: async ({ idempotencyKey }) => {
      begunCount += 1;
      if (begunCount === 2) both.resolve();
      await both.promise;
      return { type: "succeeded", output: idempotencyKey };
    },
  };
  const { dispatcher } = heldDispatcher({
    executors: executorMap([meeting]),
    report: async (_key, fact) => told.push(fact),
  });
  const { job, plan, changes } = new Story([call("f", null)]);
  const onMain = changes[0]?.effects[0];
  if (onMain === undefined) throw new Error("The job makes no call.");
  const inBranch = { ...onMain, branch: "fan-out:1[0]", epoch: 2 };
  const calls = [onMain, inBranch].map((effect) => ({ effect, begun: true }));
  dispatcher.take({ job, plan, calls, entries: [] }, leaseTerm);

  await vi.waitFor(() => expect(told).toHaveLength(2), waitOptions);
  const { jobId } = job;
  const succeeded = { type: "step.succeeded", step: "f", visit: 1 };
  expect(told).toEqual([
    { ...succeeded, branch: "", epoch: 1, output: `${jobId}:f:1` },
    { ...succeeded, branch: "fan-out:1[0]", epoch: 2, output: `${jobId}:f:1:fan-out:1[0]` },
  ]);
});

test("the calls of one commit are counted against the free places, both in total and for their organization", () => {
  const { dispatcher } = heldDispatcher({ maxCalls: 3, maxCallsPerOrganization: 2 });
  const beginsAtOnce = dispatcher.beginsAtOnce();
  expect(["a", "a", "a", "b", "b"].map(beginsAtOnce)).toEqual([true, true, false, true, false]);
});

/** Hands the dispatcher the first call of a new job. Returns the called step, to which only the dispatcher holds a reference. */
function beginCall(dispatcher: Dispatcher): WeakRef<PlanStep> {
  const { plan, job, changes } = new Story([call("f", null)]);
  const [change] = changes;
  const calls = change?.effects.map((effect) => ({ effect, begun: false })) ?? [];
  dispatcher.take({ job, plan, calls, entries: change?.entries ?? [] }, leaseTerm);
  return new WeakRef(plan.firstStep);
}
