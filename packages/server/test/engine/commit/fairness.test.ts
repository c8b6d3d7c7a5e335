import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody } from "@stepwell/testing/flow.ts";
import { callingDefinition, FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { FairQueue } from "../../../src/store/home/fair-queue.ts";
import { useCluster } from "../node/cluster.ts";

describe("a fair queue", () => {
  test.each([
    { name: "gives owners their turns", add: "A1 A2 A3 B1 C1 C2", bounds: [9, 9], gives: "A1 B1 C1 A2 C2 A3" },
    { name: "keeps the order of one owner", add: "A1 A2 A3", bounds: [9, 9], gives: "A1 A2 A3" },
    { name: "gives no owner more than a share", add: "A1 A2 A3 B1", bounds: [9, 2], gives: "A1 B1 A2" },
    { name: "runs no more than it may", add: "A1 A2 B1 C1", bounds: [2, 2], gives: "A1 B1" },
  ])("$name", ({ add, bounds: [maxRunning = 0, maxRunningPerOwner = 0], gives }) => {
    const queue = new FairQueue<string>({ maxRunning, maxRunningPerOwner });
    for (const item of add.split(" ")) queue.add(ownerOf(item), item);

    expect([...allThatMayRun(queue)].join(" ")).toBe(gives);
  });

  test("an owner that had its turn comes after all owners that wait", () => {
    const queue = new FairQueue<string>({ maxRunning: 2, maxRunningPerOwner: 1 });
    for (const item of ["A1", "A2", "B1", "C1"]) queue.add(ownerOf(item), item);
    expect([...allThatMayRun(queue)]).toEqual(["A1", "B1"]);

    queue.done("A");
    expect([...allThatMayRun(queue)]).toEqual(["C1"]);

    queue.done("B");
    expect([...allThatMayRun(queue)]).toEqual(["A2"]);
  });

  test("under any load the bounds hold, nothing is lost, and no owner that may run is passed over twice by the same other owner", () => {
    const steps = fc.array(
      fc.oneof(
        { weight: 3, arbitrary: fc.record({ add: fc.constantFrom("A", "B", "C", "D") }) },
        { weight: 2, arbitrary: fc.constant("next" as const) },
        { weight: 1, arbitrary: fc.constant("done" as const) },
      ),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 4 }), steps, (most, mostOfOne, script) => {
        const queue = new FairQueue<string>({ maxRunning: most, maxRunningPerOwner: mostOfOne });
        const waiting = new Map<string, number>();
        const running: string[] = [];
        /** For each owner that waits and may run: which owners have been served since it began to wait. */
        const passedBy = new Map<string, Set<string>>();
        const runningOf = (owner: string) => running.filter((other) => other === owner).length;
        const mayRun = (owner: string) => (waiting.get(owner) ?? 0) > 0 && runningOf(owner) < mostOfOne;
        for (const step of script) {
          if (step === "done") {
            const owner = running.shift();
            if (owner !== undefined) queue.done(owner);
          } else if (step !== "next") {
            queue.add(step.add, step.add);
            waiting.set(step.add, (waiting.get(step.add) ?? 0) + 1);
          } else {
            const ready = running.length < most ? [...waiting.keys()].filter(mayRun) : [];
            const owner = queue.next();
            if (ready.length === 0) expect(owner).toBeUndefined();
            else expect(ready).toContain(owner);
            if (owner === undefined) continue;
            for (const other of ready.filter((candidate) => candidate !== owner)) {
              const passers = passedBy.get(other) ?? new Set();
              expect(passers.has(owner), `${owner} passed ${other} by a second time`).toBe(false);
              passedBy.set(other, passers.add(owner));
            }
            passedBy.delete(owner);
            waiting.set(owner, (waiting.get(owner) ?? 0) - 1);
            running.push(owner);
          }
          expect(queue.runningCount).toBe(running.length);
          expect(queue.waitingCount).toBe([...waiting.values()].reduce((sum, count) => sum + count, 0));
        }
      }),
      { numRuns: 500 },
    );
  });
});

function ownerOf(item: string): string {
  return item.slice(0, 1);
}

function* allThatMayRun(queue: FairQueue<string>): Generator<string> {
  for (let item = queue.next(); item !== undefined; item = queue.next()) yield item;
}

const functions = await FunctionServer.start();
afterAll(() => functions.stop());

/** A time limit far below the time of 300 slow calls, but long enough for a busy machine. */
const promptMs = 5_000;

async function submitMany(api: Client, workflowId: string, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => api.call("SubmitJob", { body: { workflowId } })));
}

/** Measures the time of a job from its submission to its end. */
async function timeOneJob(api: Client, workflowId: string, status: string): Promise<number> {
  const begunAt = performance.now();
  const query = { waitSeconds: 10 };
  const { body } = await api.call<JobBody>("SubmitJob", { body: { workflowId }, query });
  const { body: job } = await api.call<JobBody>("GetJob", { params: { jobId: body.jobId }, query });
  expect(job.status).toBe(status);
  return performance.now() - begunAt;
}

describe("within the usual bounds", () => {
  const cluster = useCluster(1, { ...functions.environment, STEPWELL_DRAIN_SECONDS: "0" });

  test("300 slow calls of one organization do not delay another organization's calls", async () => {
    const [slow, quick] = [await cluster.node(0).newOrganization(), await cluster.node(0).newOrganization()];
    const holding = await deploy(slow.api, callingDefinition("held"));
    const echoing = await deploy(quick.api, callingDefinition("echo"));
    await submitMany(slow.api, holding.workflowId, 300);

    expect(await timeOneJob(quick.api, echoing.workflowId, "SUCCEEDED")).toBeLessThan(timeLimit(promptMs));
  });
});

describe("beyond the capacity of a node", () => {
  const cluster = useCluster(1, {
    ...functions.environment,
    STEPWELL_DRAIN_SECONDS: "0",
    STEPWELL_MAX_CALLS_PER_ORGANIZATION: "2",
    STEPWELL_MAX_QUEUED_CALLS: "3",
  });

  test("an organization with more jobs than a node can hold does not delay another's calls, retries and timeouts", async () => {
    const [slow, quick] = [await cluster.node(0).newOrganization(), await cluster.node(0).newOrganization()];
    const holding = await deploy(slow.api, callingDefinition("held"));
    const echoing = await deploy(quick.api, callingDefinition("echo"));
    const retry = { maxAttempts: 2, initialIntervalSeconds: 0.1 };
    const failing = await deploy(quick.api, callingDefinition("broken", { retry }));
    const wait = { ...waitStep("wait", ["never"], null), timeoutSeconds: 0.1 };
    const waiting = await deploy(quick.api, definitionOf(wait));
    await submitMany(slow.api, holding.workflowId, 5);
    await submitMany(slow.api, holding.workflowId, 20);
    const pending = await slow.api.call("ListJobs", { query: { status: "PENDING", includeTotal: true } });
    expect(pending.body.totalCount).toBeGreaterThan(10);

    expect(await timeOneJob(quick.api, echoing.workflowId, "SUCCEEDED")).toBeLessThan(timeLimit(promptMs));
    expect(await timeOneJob(quick.api, failing.workflowId, "FAILED")).toBeLessThan(timeLimit(promptMs));
    expect(await timeOneJob(quick.api, waiting.workflowId, "FAILED")).toBeLessThan(timeLimit(promptMs));
  });
});
