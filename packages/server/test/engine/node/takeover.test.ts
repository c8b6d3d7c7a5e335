import { randomUUID } from "node:crypto";
import { deploy } from "@stepwell/testing/flow.ts";
import { callingDefinition } from "@stepwell/testing/functions/function-server.ts";
import { said } from "@stepwell/testing/notes.ts";
import { TestService } from "@stepwell/testing/service.ts";
import { onEveryStore, type PreparedStore } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { type CallName, callNameOf } from "../../../src/core/job/call.ts";
import type { UntimedFact } from "../../../src/core/job/fact.ts";
import { BegunCalls } from "../../../src/engine/calls/begun-calls.ts";
import { GroupCommit } from "../../../src/engine/commit/group-commit.ts";
import { executorCatalog } from "../../../src/engine/executors/catalog.ts";
import { newId } from "../../../src/engine/identifier.ts";
import { takeoverDuty } from "../../../src/engine/maintenance/takeover.ts";
import { DatabaseClock } from "../../../src/engine/node/clock.ts";
import { Node } from "../../../src/engine/node/node.ts";
import { Plans } from "../../../src/engine/plans/plans.ts";
import { openStore } from "../../../src/open-store.ts";
import { type Database, StoreUnavailableError, statement } from "../../../src/store/home/database.ts";
import { findCalls, markBegun, takeOverCalls } from "../../../src/store/jobs/job-calls.ts";
import { type JobKey, readJob } from "../../../src/store/jobs/jobs.ts";
import { failRow } from "../../store/jobs/failing-row.ts";
import { happening, submission } from "../commands.ts";

const leaseMs = 10_000;
const heartbeatMs = 1_000;

/** Makes the heartbeats older, as if the database's clock had been set forward. If only their age counted, each of them would be too old. */
const ageHeartbeats = statement<never>(
  "test_age_heartbeats",
  "global",
  "UPDATE node SET heartbeat_at = heartbeat_at - interval '1 hour'",
);

interface Workflow {
  readonly organizationId: string;
  readonly workflowId: string;
}

onEveryStore((home) => {
  let store: PreparedStore;
  let database: Database;
  let workflow: Workflow;
  let otherWorkflow: Workflow;
  /** The machine's two clocks, the same for every node. */
  let monotonicMs = 5_000;
  let machineMs = 1_000_000;
  let isStoreAway = false;

  // The service that fills this store is stopped before the tests, so only the nodes of these tests handle its jobs.
  beforeAll(async () => {
    store = await home.prepare();
    const seeding = new TestService({ name: home.name, prepare: async () => ({ ...store, remove: async () => {} }) });
    await seeding.start();
    const newWorkflow = async () => {
      const { organizationId, api } = await seeding.newOrganization();
      return { organizationId, workflowId: (await deploy(api, callingDefinition("held"))).workflowId };
    };
    workflow = await newWorkflow();
    otherWorkflow = await newWorkflow();
    await seeding.stop();
    const opened = await openStore(readConfig(store.environment));
    const reached = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      if (isStoreAway) throw new StoreUnavailableError("nothing-written", new Error("It is away."));
      return await work();
    };
    database = {
      ...opened,
      query: (asked, values) => reached(() => opened.query(asked, values)),
      transaction: (work) => reached(() => opened.transaction(work)),
    };
  }, 60_000);
  afterAll(async () => {
    await database.close();
    await store.remove();
  });
  beforeEach(() => {
    isStoreAway = false;
  });

  function pass(ms: number): void {
    monotonicMs += ms;
    machineMs += ms;
  }

  class TestNode {
    readonly nodeId = randomUUID();
    readonly #clock = new DatabaseClock(
      () => monotonicMs,
      () => machineMs,
    );
    readonly node = new Node({
      database,
      clock: this.#clock,
      nodeId: this.nodeId,
      name: "test",
      leaseMs,
      heartbeatMs,
      isAlone: false,
    });
    readonly #owed = new Set<string>();
    #hasFreeSlots = true;
    readonly #plans = new Plans(executorCatalog(readConfig({})), readConfig({}));
    readonly #commit = this.#groupCommit();
    /** The reports of the takeover wait for this. It stands for the commits of an organization that rests. */
    reportAfter = async (_key: JobKey): Promise<void> => undefined;
    lookAround = () => this.node.lookAround();
    readonly takeover = takeoverDuty({
      database,
      nodeId: this.nodeId,
      leaseMs,
      everyMs: leaseMs / 4,
      lookAround: () => this.lookAround(),
      plans: this.#plans,
      report: async (key, fact) => {
        await this.reportAfter(key);
        const done = await this.#commit.commit(happening(key, fact), "engine").catch(() => undefined);
        return done !== undefined;
      },
      owes: ({ jobId }) => this.#owed.has(jobId),
      roomCount: () => 100,
    });

    #groupCommit(): GroupCommit {
      const config = readConfig({});
      return new GroupCommit({
        ...config,
        database,
        clock: this.#clock,
        plans: this.#plans,
        nodeId: this.nodeId,
        limits: { maxStepRuns: 100, maxEvents: 100, maxOutputBytes: 10_000, maxCarriedBytes: 1_000_000 },
        hasRoomForCall: () => true,
        storeFullError: () => undefined,
        beginsAtOnce: () => () => this.#hasFreeSlots,
        leaseTerm: () => this.node.leaseTerm(),
        onCommitted: (changed) => {
          for (const { job, calls } of changed) if (calls.length > 0) this.#owed.add(job.jobId);
        },
        onDefect: (error) => expect.unreachable(String(error)),
      });
    }

    /** Returns the job's status and the outcome of the fact. */
    async tell(key: JobKey, fact: UntimedFact) {
      const done = await this.#commit.commit(happening(key, fact), "engine");
      return done.answer;
    }

    /** Makes the node forget the call of a job, as a defect would. */
    forget({ jobId }: JobKey): void {
      this.#owed.delete(jobId);
    }

    /** Makes a job whose call this node owes, either begun or waiting for its turn. */
    async job(call: "begun" | "waiting", of: Workflow = workflow): Promise<JobKey> {
      this.#hasFreeSlots = call === "begun";
      const command = submission({ newId: () => newId(this.#clock.now()) }, of);
      await this.#commit.commit(command);
      return { organizationId: command.organizationId, jobId: command.jobId };
    }
  }

  async function read(key: JobKey) {
    const job = await readJob(database, key);
    if (job === undefined) throw new Error("The job is gone.");
    return job;
  }

  async function callOf(key: JobKey) {
    const [call] = await findCalls(database, key);
    if (call === undefined) throw new Error("The job has no call.");
    const { organizationId, jobId, nodeId } = call;
    if (nodeId === null) throw new Error("No node holds the call.");
    return { nodeId, call: { organizationId, jobId, ...callNameOf(call) } };
  }

  async function holderOf(key: JobKey): Promise<string> {
    return (await callOf(key)).nodeId;
  }

  async function nodes(count: number): Promise<TestNode[]> {
    const started = Array.from({ length: count }, () => new TestNode());
    for (const { node } of started) await node.runOnce();
    return started;
  }

  test("when the store comes back after longer than a lease, the calls of living nodes stay with their nodes", async () => {
    const [owner, observer] = (await nodes(2)) as [TestNode, TestNode];
    const key = await owner.job("begun");
    const before = await read(key);
    await database.query(ageHeartbeats, []);
    await observer.takeover.runOnce();

    isStoreAway = true;
    for (let passedMs = 0; passedMs < 1.5 * leaseMs; passedMs += heartbeatMs) {
      pass(heartbeatMs);
      for (const { node } of [owner, observer]) await expect(node.runOnce()).rejects.toThrow(StoreUnavailableError);
    }
    isStoreAway = false;
    // The observer is the first node that works again.
    await observer.takeover.runOnce();
    pass(heartbeatMs);
    await observer.takeover.runOnce();

    await owner.node.runOnce();
    expect(await read(key)).toEqual(before);
  });

  test("the jobs of a dead node are taken over within two leases, and only the call that had begun counts as interrupted", async () => {
    const [dying, observer] = (await nodes(2)) as [TestNode, TestNode];
    const begun = await dying.job("begun");
    const waiting = await dying.job("waiting");

    let passedMs = 0;
    for (; (await holderOf(begun)) === dying.nodeId; passedMs += heartbeatMs) {
      expect(passedMs).toBeLessThanOrEqual(2 * leaseMs);
      pass(heartbeatMs);
      await observer.node.runOnce();
      if (passedMs % (leaseMs / 4) === 0) await observer.takeover.runOnce();
    }

    expect(passedMs).toBeGreaterThanOrEqual(leaseMs);
    expect(await holderOf(begun)).toBe(observer.nodeId);
    expect(await read(begun)).toMatchObject({
      state: { step: { phase: "calling", attempt: 2, interruptions: 1 } },
    });
    expect(await findCalls(database, waiting)).toEqual([]);
    expect(await read(waiting)).toMatchObject({
      state: { step: { phase: "retrying", attempt: 0, interruptions: 0 } },
    });
    const { deadNodes, livingNodeIds } = await observer.node.lookAround();
    expect([deadNodes, livingNodeIds.includes(dying.nodeId)]).toEqual([[], false]);
  });

  test("calls that a stopped node still owned are taken over at once", async () => {
    const [leaving, observer] = (await nodes(2)) as [TestNode, TestNode];
    const key = await leaving.job("begun");
    await leaving.node.leave();

    await observer.takeover.runOnce();

    expect(await holderOf(key)).toBe(observer.nodeId);
  });

  test("a node that starts after its neighbour has listed the nodes keeps its calls", async () => {
    const [starting, observer] = (await nodes(2)) as [TestNode, TestNode];
    const key = await starting.job("begun");
    let looks = 0;
    observer.lookAround = async () => {
      const seen = await observer.node.lookAround();
      looks += 1;
      // The first look sees the nodes as if the other node had sent no heartbeat yet.
      return looks > 1 ? seen : { ...seen, livingNodeIds: seen.livingNodeIds.filter((id) => id !== starting.nodeId) };
    };

    await observer.takeover.runOnce();

    expect(looks).toBe(2);
    expect(await holderOf(key)).toBe(starting.nodeId);
  });

  test("jobs whose reports take long do not delay the takeover of another organization's calls", async () => {
    const [leaving, observer] = (await nodes(2)) as [TestNode, TestNode];
    const slow = await leaving.job("begun");
    const other = await leaving.job("begun", otherWorkflow);
    const mayEnd = Promise.withResolvers<void>();
    observer.reportAfter = ({ jobId }) => (jobId === slow.jobId ? mayEnd.promise : Promise.resolve());
    await leaving.node.leave();

    await observer.takeover.runOnce();
    const later = await leaving.job("begun", otherWorkflow);
    await observer.takeover.runOnce();

    for (const key of [other, later]) {
      expect(await read(key)).toMatchObject({ state: { step: { phase: "calling", attempt: 2 } } });
    }
    expect(await read(slow)).toMatchObject({ state: { step: { attempt: 1 } } });
    mayEnd.resolve();
    await expect.poll(() => read(slow)).toMatchObject({ state: { step: { phase: "calling", attempt: 2 } } });
  });

  test("a job whose version a node cannot compile is left for a node that can compile it", async () => {
    const [leaving, unable, able] = (await nodes(3)) as [TestNode, TestNode, TestNode];
    const key = await leaving.job("begun");
    // From here on, `able` has the plan in memory.
    await able.job("begun");
    const rename = (from: string, to: string) =>
      database.query(said("UPDATE workflow_version SET definition = replace(definition, $1, $2)"), [from, to]);
    await rename("/service/cloud/function", "/service/fromALaterRelease");
    await leaving.node.leave();

    await unable.takeover.runOnce();
    expect(await holderOf(key)).toBe(leaving.nodeId);

    await able.takeover.runOnce();
    expect(await holderOf(key)).toBe(able.nodeId);
    await rename("/service/fromALaterRelease", "/service/cloud/function");
  });

  test.each(["57014", "22000"])(
    "a job whose row cannot be written (%s) does not stop the takeover of other jobs",
    async (sqlState) => {
      const [leaving, observer] = (await nodes(2)) as [TestNode, TestNode];
      const keys = [await leaving.job("begun"), await leaving.job("begun"), await leaving.job("begun")] as const;
      const [failing, ...others] = keys;
      const mend = await failRow(database, failing, sqlState, "UPDATE ON job_call");
      await leaving.node.leave();

      await observer.takeover.runOnce();
      expect(await holderOf(failing)).toBe(leaving.nodeId);
      for (const key of others) expect(await holderOf(key)).toBe(observer.nodeId);

      await mend();
      await expect
        .poll(
          async () => {
            await observer.takeover.runOnce();
            return await holderOf(failing);
          },
          { timeout: 10_000 },
        )
        .toBe(observer.nodeId);
    },
  );

  test.each(["22000", "53100"])(
    "a call whose start cannot be recorded (%s) does not stop the recording of others",
    async (sqlState) => {
      const [node] = (await nodes(1)) as [TestNode];
      const keys = [await node.job("waiting"), await node.job("waiting"), await node.job("waiting")] as const;
      const calls = await Promise.all(keys.map(async (key) => (await callOf(key)).call));
      const mend = await failRow(database, keys[1], sqlState, "UPDATE ON job_call");
      try {
        const begun = new BegunCalls(database, node.nodeId);
        const noted = await Promise.allSettled(calls.map((call) => begun.note(call)));
        expect(noted.map((one) => (one.status === "fulfilled" ? one.value : "failed"))).toEqual([true, "failed", true]);
      } finally {
        await mend();
      }
    },
  );

  test("a late outcome counts until the node that took over the call has reported the interruption, and not afterwards", async () => {
    const [owner, taker] = (await nodes(2)) as [TestNode, TestNode];
    const [early, late] = [await owner.job("begun"), await owner.job("begun")];
    const [ofEarly, ofLate] = [(await callOf(early)).call, (await callOf(late)).call];
    await takeOverCalls(database, taker.nodeId, owner.nodeId, [ofEarly, ofLate]);
    const succeeded = (call: CallName) => ({ type: "step.succeeded", ...callNameOf(call), output: {} }) as const;
    const interrupted = (call: CallName) =>
      ({ type: "step.interrupted", ...callNameOf(call), isNodeDead: true }) as const;

    expect(await owner.tell(early, succeeded(ofEarly))).toEqual({ status: "SUCCEEDED", verdict: "applied" });
    expect(await taker.tell(early, interrupted(ofEarly))).toEqual({ status: "SUCCEEDED", verdict: "ignored" });

    expect(await taker.tell(late, interrupted(ofLate))).toEqual({ status: "RUNNING", verdict: "applied" });
    expect(await owner.tell(late, succeeded(ofLate))).toEqual({ status: "RUNNING", verdict: "ignored" });
    expect(await callOf(late)).toMatchObject({ nodeId: taker.nodeId, call: { epoch: ofLate.epoch + 1 } });
  });

  test("an interruption counts even if the node that took over the job dies before it writes the interruption", async () => {
    const [first, third] = (await nodes(2)) as [TestNode, TestNode];
    const key = await first.job("begun");
    const { call } = await callOf(key);

    const taken = await takeOverCalls(database, randomUUID(), first.nodeId, [call]);
    await third.takeover.runOnce();

    expect(taken).toEqual([{ ...call, hadBegun: true }]);
    expect(await holderOf(key)).toBe(third.nodeId);
    expect(await read(key)).toMatchObject({ state: { step: { interruptions: 1 } } });
  });

  test("an interruption counts even if the node that took over the job could not write it at first", async () => {
    const [leaving, observer] = (await nodes(2)) as [TestNode, TestNode];
    const key = await leaving.job("begun");
    const mend = await failRow(database, key, "22000", "INSERT ON job_history");
    await leaving.node.leave();

    await observer.takeover.runOnce();
    expect(await holderOf(key)).toBe(observer.nodeId);
    expect(await read(key)).toMatchObject({ state: { step: { attempt: 1 } } });
    await database.query(age, [observer.nodeId]);
    await mend();

    const { step } = await untilCalledAgain(key, observer);
    expect(step).toMatchObject({ attempt: 2, interruptions: 1 });
  });

  test("a call that its living node forgot is made again and counts as no interruption, however many other calls the node owes", async () => {
    const [node] = (await nodes(1)) as [TestNode];
    let forgotten: JobKey | undefined;
    for (let round = 0; round < 6; round += 1) {
      forgotten = (await Promise.all(Array.from({ length: 100 }, () => node.job("begun")))).at(-1);
    }
    if (forgotten === undefined) throw new Error("There is no job.");
    node.forget(forgotten);
    await database.query(age, [node.nodeId]);

    const { step } = await untilCalledAgain(forgotten, node);
    expect(step).toMatchObject({ attempt: 2, interruptions: 0 });
  });

  /** Changes the store as if the node had held its calls for longer than a lease. */
  const age = said<never>("UPDATE job_call SET ready_at = ready_at - interval '1 hour' WHERE node_id = $1");

  async function untilCalledAgain(key: JobKey, node: TestNode) {
    return await vi.waitFor(
      async () => {
        await node.takeover.runOnce();
        const { state } = await read(key);
        if (state.status !== "RUNNING" || state.step.phase !== "calling" || state.step.attempt < 2)
          throw new Error("It was not called again.");
        return state;
      },
      { interval: 50, timeout: 10_000 },
    );
  }

  test("a job that its owner has continued is not taken over, and a call without its job does not begin", async () => {
    const [owner, other] = (await nodes(2)) as [TestNode, TestNode];
    const key = await owner.job("waiting");
    const { call } = await callOf(key);
    const outdated = { ...call, epoch: call.epoch - 1 };

    expect(await takeOverCalls(database, other.nodeId, owner.nodeId, [outdated])).toEqual([]);
    expect(await markBegun(database, owner.nodeId, [outdated])).toEqual([]);
    expect(await markBegun(database, other.nodeId, [call])).toEqual([]);
    expect(await markBegun(database, owner.nodeId, [call])).toEqual([call]);
  });

  test("after a sleep of the machine, or a forward step of its clock, a node begins nothing before it has a lease of a new term", async () => {
    const [{ node }] = (await nodes(1)) as [TestNode];
    const term = node.leaseTerm();

    machineMs += 3_600_000;
    expect(node.isLeaseValid()).toBe(false);
    await node.runOnce();
    expect([node.isLeaseValid(), node.leaseTerm()]).toEqual([true, term + 1]);

    machineMs -= 7_200_000;
    expect(node.isLeaseValid()).toBe(true);
    pass(leaseMs / 2);
    await node.runOnce();
    expect([node.isLeaseValid(), node.leaseTerm()]).toEqual([true, term + 1]);
    pass(leaseMs);
    expect(node.isLeaseValid()).toBe(false);
  });

  test("a node that was considered dead and sends heartbeats again stays in the list of nodes", async () => {
    const [revived, observer] = (await nodes(2)) as [TestNode, TestNode];
    for (let passedMs = 0; passedMs <= leaseMs; passedMs += heartbeatMs) {
      await observer.node.runOnce();
      pass(heartbeatMs);
    }
    const { deadNodes } = await observer.node.lookAround();
    expect(deadNodes.map(({ nodeId }) => nodeId)).toContain(revived.nodeId);

    await revived.node.runOnce();
    await observer.takeover.runOnce();
    expect((await observer.node.lookAround()).livingNodeIds).toContain(revived.nodeId);
  });
});
