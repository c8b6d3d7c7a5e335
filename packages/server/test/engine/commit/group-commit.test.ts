import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { definitionOf, straightDefinition, waitingDefinition, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy } from "@stepwell/testing/flow.ts";
import { type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { beforeAll, expect, test } from "vitest";
import { type Config, readConfig } from "../../../src/config.ts";
import type { UntimedFact } from "../../../src/core/job/fact.ts";
import type { Command } from "../../../src/engine/commit/command.ts";
import { type CommitStats, GroupCommit, type GroupCommitOptions } from "../../../src/engine/commit/group-commit.ts";
import { executorCatalog } from "../../../src/engine/executors/catalog.ts";
import { DatabaseClock } from "../../../src/engine/node/clock.ts";
import type { NodeEngine } from "../../../src/engine/node-engine.ts";
import { Plans } from "../../../src/engine/plans/plans.ts";
import { JobReader } from "../../../src/engine/reading/job-reader.ts";
import { RecentJobs } from "../../../src/engine/reading/recent-jobs.ts";
import { type Database, StoreUnavailableError } from "../../../src/store/home/database.ts";
import { childJob, forEach, textOf, transform, wait } from "../../core/job/jobs.ts";
import { cancelled, eventReceived, happening, keyed, submission } from "../commands.ts";
import { commitSettings } from "./commit-settings.ts";

onEveryStore((home) => {
  const service = useService(home);
  let engine: NodeEngine;
  let organization: TestOrganization;
  /** A workflow that runs through without waiting. */
  let straight: Workflow;
  /** A workflow that waits for `approved`. */
  let waiting: Workflow;

  beforeAll(async () => {
    engine = service.running.engine;
    organization = await service.newOrganization();
    const { organizationId, api } = organization;
    straight = { organizationId, workflowId: (await deploy(api, straightDefinition)).workflowId };
    waiting = { organizationId, workflowId: (await deploy(api, waitingDefinition)).workflowId };
  });

  /** Makes a second group commit over the service's store. It records its commits and its failures. */
  function groupCommit(settings: Partial<Config> = {}, more: Partial<GroupCommitOptions> = {}) {
    const config = { ...readConfig({}), ...settings };
    const executors = executorCatalog(config);
    const commits: CommitStats[] = [];
    const defects: Command[] = [];
    const commit = new GroupCommit({
      database: service.running.database,
      clock: new DatabaseClock(),
      plans: new Plans(executors, config),
      nodeId: engine.nodeId,
      limits: {
        maxStepRuns: config.maxStepRunsPerJob,
        maxEvents: config.maxEventsPerJob,
        maxOutputBytes: config.maxOutputBytes,
        maxCarriedBytes: config.maxCarriedBytes,
      },
      ...commitSettings(config),
      onCommitted: (_changed, stats) => commits.push(stats),
      onDefect: (_error, command) => defects.push(command),
      ...more,
    });
    return { commit, commits, defects };
  }

  async function waitingJob(): Promise<{ organizationId: string; jobId: string }> {
    const command = submission(engine, waiting);
    await engine.commit(command);
    return command;
  }

  /** Reads the job from the store, because the service's own engine has not seen the commits of another group commit. */
  async function read(key: { organizationId: string; jobId: string }) {
    const reader = new JobReader({
      database: service.running.database,
      recent: new RecentJobs(),
      isAlone: false,
    });
    return await reader.read(key);
  }

  async function statusOf(jobId: string): Promise<string | undefined> {
    const whole = await read({ organizationId: organization.organizationId, jobId });
    return whole?.job.state.status;
  }

  test("commands that arrive together share a transaction, up to the bound of a batch", async () => {
    const { commit, commits } = groupCommit({ maxBatchSize: 50 });
    const commands = Array.from({ length: 200 }, () => submission(engine, straight));

    await Promise.all(commands.map((command) => commit.commit(command)));

    // On a slow machine the turn of an organization may end in the middle of a batch. The remaining commands then count again in the next batch.
    const counts = commits.map((stats) => stats.commandCount);
    expect([counts[0], Math.max(...counts)]).toEqual([50, 50]);
    expect(counts.length).toBeLessThan(20);
    expect(await Promise.all(commands.map(({ jobId }) => statusOf(jobId)))).toEqual(commands.map(() => "SUCCEEDED"));
  });

  test("a batch of large commands is cut by their bytes, and one that is larger than the bound goes alone", async () => {
    const { commit, commits } = groupCommit({ maxBatchBytes: 100 });
    const bytes = [40, 60, 1, 500, 1, 1];

    await Promise.all(bytes.map((size) => commit.commit(submission(engine, straight, { bytes: size }))));

    expect(commits.map((stats) => stats.commandCount)).toEqual([2, 1, 1, 2]);
  });

  test("payloads are loaded only if a wait may read some", async () => {
    const statements: string[] = [];
    const { database } = service.running;
    const listening: Database = {
      ...database,
      groupOf: (organizationId) => database.groupOf(organizationId),
      transaction: (work) =>
        database.transaction((transaction) =>
          work({
            query: (statement, values) => {
              statements.push(statement.name);
              return transaction.query(statement, values);
            },
          }),
        ),
    };
    const { commit } = groupCommit({}, { database: listening });
    const asked = async (workflow: Workflow, ...events: UntimedFact[]) => {
      const job = submission(engine, workflow);
      await engine.commit(job);
      statements.length = 0;
      for (const event of events) await commit.commit(happening(job, event));
      expect(await statusOf(job.jobId)).toBe("SUCCEEDED");
      return statements.filter((name) => name === "read_event_payloads").length;
    };
    const { organizationId, api } = organization;
    const twoEvents = { organizationId, workflowId: (await deploy(api, decidingDefinition)).workflowId };
    const withPayload = { ...eventReceived("approved"), payload: { approved: true } } as UntimedFact;

    expect(await asked(straight)).toBe(0);
    expect(await asked(waiting, eventReceived("approved"))).toBe(0);
    expect(await asked(twoEvents, eventReceived("approved"), eventReceived("paid"))).toBe(0);
    expect(await asked(twoEvents, eventReceived("paid"), withPayload)).toBe(0);
    expect(await asked(twoEvents, withPayload, eventReceived("other"), eventReceived("paid"))).toBe(1);
  });

  test("simultaneous facts of large jobs are divided into batches by the size of the jobs", async () => {
    const { commit, commits, defects } = groupCommit({ maxBatchBytes: 250_000 });
    // The input is stored once, as the job's input, and is read when the wait ends.
    const input = { text: randomBytes(50_000).toString("hex") };
    const large = [1, 2, 3, 4].map(() => submission(engine, waiting, { input }));
    for (const command of large) await engine.commit(command);
    const jobs = [...large, await waitingJob()];

    await Promise.all(jobs.map((job) => commit.commit(happening(job, eventReceived("approved")))));

    expect(commits.map((stats) => stats.commandCount)).toEqual([2, 1, 2]);
    expect(defects).toEqual([]);
    for (const { jobId } of jobs) expect(await statusOf(jobId)).toBe("SUCCEEDED");
    const whole = await read({ organizationId: organization.organizationId, jobId: large[0]?.jobId ?? "" });
    expect(whole).toMatchObject({ job: { input }, output: input });
  });

  test("simultaneous facts of many branches of one job are divided into batches by the size of the branches", async () => {
    const { commit, commits, defects } = groupCommit({ maxBatchBytes: 250_000 });
    const { organizationId, api } = organization;
    const each = forEach("each", { items: "${ input.list }", step: "make", output: "counts" }, null);
    const text = "${ input.text + string(index) }";
    const fanOut = textOf([each, transform("make", { text }, "w"), wait("w", ["approved"], null)]);
    const { workflowId } = await deploy(api, fanOut);
    const input = { list: [1, 2, 3, 4, 5, 6], text: randomBytes(50_000).toString("hex") };
    const job = submission(engine, { organizationId, workflowId }, { input });
    await engine.commit(job);

    const events = input.list.map((_, item) => ({
      ...eventReceived("approved"),
      step: "w",
      branch: `each:1[${item}]`,
    }));
    await Promise.all(events.map((event) => commit.commit(happening(job, event as UntimedFact))));

    expect(commits.map((stats) => stats.commandCount)).toEqual([2, 1, 2, 1]);
    expect(defects).toEqual([]);
    expect(await statusOf(job.jobId)).toBe("SUCCEEDED");
  });

  test("a command that the store cannot apply fails alone, and the others of its batch are committed", async () => {
    const { commit, defects } = groupCommit();
    const taken = await waitingJob();
    const commands = Array.from({ length: 9 }, () => submission(engine, straight));
    const impossible = submission(engine, straight, { jobId: taken.jobId });
    const event = happening(await waitingJob(), eventReceived("approved"));

    const outcomes = await Promise.allSettled(
      [...commands.slice(0, 4), impossible, ...commands.slice(4), event].map((command) => commit.commit(command)),
    );

    expect(outcomes.map(({ status }) => status)).toEqual(
      [...commands, impossible, event].map((_, index) => (index === 4 ? "rejected" : "fulfilled")),
    );
    expect(defects).toEqual([impossible]);
    for (const { jobId } of [...commands, event]) expect(await statusOf(jobId)).toBe("SUCCEEDED");
    expect(await statusOf(taken.jobId)).toBe("RUNNING");
  });

  test("a rejected command does not affect the others of its batch, and its idempotency key stays free", async () => {
    const { commit, commits } = groupCommit();
    const lost = { ...straight, workflowId: engine.newId() };
    const neighbour = submission(engine, straight);
    const key = keyed(engine.newId());

    const [refused] = await Promise.allSettled([
      commit.commit(submission(engine, lost, key)),
      commit.commit(neighbour),
    ]);

    expect(refused).toMatchObject({ status: "rejected", reason: { code: "NotFoundError" } });
    expect(commits).toHaveLength(1);
    expect(await statusOf(neighbour.jobId)).toBe("SUCCEEDED");
    expect(await commit.commit(submission(engine, straight, key))).toMatchObject({ type: "done" });
  });

  test.each([
    ["an event, then its cancellation", [eventReceived("approved"), cancelled], "SUCCEEDED"],
    ["its cancellation, then an event", [cancelled, eventReceived("approved")], "CANCELLED"],
  ])("the commands for one job in one batch take effect in their order: %s", async (_name, facts, end) => {
    const { commit, commits } = groupCommit();
    const job = await waitingJob();

    const [first, second] = await Promise.allSettled(facts.map((fact) => commit.commit(happening(job, fact))));

    expect(commits).toHaveLength(1);
    expect(first).toMatchObject({ status: "fulfilled", value: { answer: { status: end } } });
    expect(second).toMatchObject({ status: "rejected", reason: { code: "ConflictError" } });
    const whole = await read(job);
    expect(whole?.job.state.status).toBe(end);
    expect(whole?.entries.map((entry) => entry.sequence)).toEqual(whole?.entries.map((_, index) => index + 1));
  });

  test("an event that comes twice in one batch counts once", async () => {
    const { commit, commits } = groupCommit();
    const job = await waitingJob();
    const other = eventReceived("nobody-waits-for-this");

    const outcomes = await Promise.all([1, 2].map(() => commit.commit(happening(job, other))));

    expect(outcomes.map(({ answer }) => answer.verdict)).toEqual(["unmatched", "duplicate"]);
    expect(commits).toHaveLength(1);
  });

  test.each(["one batch", "batches of their own"])(
    "an event is no duplicate of one that a wait with expressions has consumed, in %s",
    async (how) => {
      const { commit } = groupCommit();
      const steps = [waitStep("early", ["${ 'early' }"], "last"), waitStep("last", ["last"], null)];
      const { workflowId } = await deploy(organization.api, definitionOf(...steps));
      const job = submission(engine, { ...waiting, workflowId });
      await commit.commit(job);
      const send = async (eventIds: string[]) =>
        (await Promise.all(eventIds.map((id) => commit.commit(happening(job, eventReceived(id)))))).map(
          ({ answer }) => answer.verdict,
        );

      const times = ["early", "early", "early"];
      const verdicts =
        how === "one batch" ? await send(times) : (await Array.fromAsync(times, (id) => send([id]))).flat();

      expect(verdicts).toEqual(["matched", "unmatched", "duplicate"]);
    },
  );

  test("events that arrive while their organization rests are decided in the order in which they arrived", async () => {
    const { commit } = groupCommit();
    const { organizationId, api } = await service.newOrganization();
    const deployed = async (definition: string) => ({
      organizationId,
      workflowId: (await deploy(api, definition)).workflowId,
    });
    const job = submission(engine, await deployed(waitingDefinition));
    await commit.commit(job);
    const costly = await deployed(costlyDefinition);
    const sent = Array.from({ length: 40 }, (_, index) => index);
    const answered: number[] = [];
    let hasRested = false;
    // On a busy machine, the organization's rest may be over before the events have arrived. Then the test tries again.
    while (!hasRested) {
      // This command of another organization makes the rest after the costly command longer than that command's commit.
      await commit.commit(submission(engine, straight));
      const input = { value: Array.from({ length: 5_000 }, (_, index) => index) };
      await commit.commit(submission(engine, costly, { input }));
      answered.length = 0;
      const answers: Promise<unknown>[] = [];
      for (const index of sent) {
        const event = happening(job, eventReceived(`event-${index}`));
        answers.push(commit.commit(event).then(() => answered.push(index)));
        // All events arrive within some ten milliseconds. The organization rests for much longer.
        const until = performance.now() + 0.25;
        while (performance.now() < until) await nextTurn();
      }
      hasRested = answered.length < sent.length;
      await Promise.all(answers);
      expect(answered).toEqual(sent);
    }
  }, 120_000);

  test("a parent learns that its child was cancelled, even if the child is resumed in the same batch", async () => {
    const { organizationId, api } = await service.newOrganization();
    await deploy(api, waitingDefinition, "child");
    const parent = await deploy(api, textOf([childJob("run", "child", null)]));
    const { body } = await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId: parent.workflowId } });
    const query = { parentJobId: body.jobId };
    const children = async () => (await api.call<{ jobs: { jobId: string }[] }>("ListJobs", { query })).body.jobs;
    await expect.poll(children).toHaveLength(1);
    const [child] = await children();
    const key = { organizationId, jobId: child?.jobId ?? "" };

    const { commit, commits } = groupCommit();
    const facts = [cancelled, { type: "job.resumed", by: { type: "service", id: "test" } } as const];
    await Promise.all(facts.map((fact) => commit.commit(happening(key, fact))));

    expect(commits).toHaveLength(1);
    const params = { jobId: body.jobId };
    await expect.poll(async () => (await api.call("GetJob", { params })).body.status).toBe("FAILED");
  });

  test("two simultaneous commands with the same idempotency key create one job and get the same answer", async () => {
    const { commit } = groupCommit();
    const key = keyed(engine.newId());
    const commands = [submission(engine, straight, key), submission(engine, straight, key)];

    const [first, second] = await Promise.all(commands.map((command) => commit.commit(command)));

    expect(first).toMatchObject({ type: "done", answer: { jobId: commands[0]?.jobId } });
    expect(second).toEqual({ type: "replayed", answer: first?.answer });
    expect(await statusOf(commands[1]?.jobId ?? "")).toBeUndefined();
  });

  test("a different request with the same idempotency key is a conflict", async () => {
    const { commit } = groupCommit();
    const key = engine.newId();

    const [first, second] = await Promise.allSettled([
      commit.commit(submission(engine, straight, keyed(key, "one"))),
      commit.commit(submission(engine, straight, keyed(key, "another"))),
    ]);

    expect(first).toMatchObject({ status: "fulfilled" });
    expect(second).toMatchObject({ status: "rejected", reason: { code: "ConflictError" } });
  });

  test("a commit whose answer came only after the lease had ended is reported under the lease term in which it began", async () => {
    const { database } = service.running;
    let term = 1;
    const losing: Database = {
      ...database,
      async transaction(work) {
        const result = await database.transaction(work);
        if (term > 1) return result;
        term += 1;
        throw new StoreUnavailableError("unknown", new Error("the connection was lost"));
      },
    };
    const { commit, commits } = groupCommit({}, { database: losing, leaseTerm: () => term });
    const command = submission(engine, straight);

    expect(await commit.commit(command)).toMatchObject({ type: "done", answer: { jobId: command.jobId } });

    expect(commits).toMatchObject([{ leaseTerm: 1 }]);
  });

  test("callers are told to retry later when the queue of facts is full, and the engine's own facts are still accepted", async () => {
    const { commit } = groupCommit({ maxQueuedFacts: 3 });
    const job = await waitingJob();
    const accepted = [1, 2, 3].map(() => commit.commit(submission(engine, straight)));

    await expect(commit.commit(submission(engine, straight))).rejects.toMatchObject({
      code: "UnavailableError",
      retryAfterSeconds: 1,
    });
    expect(commit.queuedCount).toBe(3);
    await commit.commit(happening(job, { type: "timer.due" }), "engine");

    await Promise.all(accepted);
    expect(await commit.commit(submission(engine, straight))).toMatchObject({ type: "done" });
    expect(commit.queuedCount).toBe(0);
  });

  test("an organization that fills its share of the queue is told to retry later, while another's commands are accepted", async () => {
    const { commit } = groupCommit({ maxQueuedFacts: 4, maxQueuedFactsPerOrganization: 2 });
    const other = await service.newOrganization();
    const { workflowId } = await deploy(other.api, straightDefinition);
    const others = { organizationId: other.organizationId, workflowId };
    const accepted = [1, 2].map(() => commit.commit(submission(engine, straight)));

    await expect(commit.commit(submission(engine, straight))).rejects.toMatchObject({
      code: "RateLimitError",
      retryAfterSeconds: 1,
    });
    accepted.push(...[1, 2].map(() => commit.commit(submission(engine, others))));
    // Now the whole queue is full, which is a different limit from that of one organization.
    await expect(commit.commit(submission(engine, straight))).rejects.toMatchObject({ code: "UnavailableError" });

    await Promise.all(accepted);
    expect(await commit.commit(submission(engine, straight))).toMatchObject({ type: "done" });
  });
});

interface Workflow {
  readonly organizationId: string;
  readonly workflowId: string;
}

/** A workflow that waits for two events, one of which brings a decision. */
const decidingDefinition = JSON.stringify({
  workflowName: "test",
  steps: [
    {
      name: "decide",
      integrationDetails: {
        type: "/service/waitForEventIds",
        config: { eventIds: ["approved", "paid"] },
        inputDefinition: { $ref: "#/definitions/input" },
        outputDefinition: { $ref: "#/definitions/decided" },
      },
      transitionToStep: null,
    },
  ],
  definitions: {
    input: { type: "object" },
    decided: { type: "object", properties: { approved: { type: "boolean" } } },
  },
});

/** Its inputs are small lists that take a long time to check. So after a job, its organization rests for longer than the commit took. */
const costlyDefinition = JSON.stringify({
  workflowName: "test",
  steps: [
    {
      name: "only",
      integrationDetails: {
        type: "/service/noop",
        inputDefinition: { $ref: "#/definitions/list" },
        outputDefinition: { $ref: "#/definitions/list" },
      },
      transitionToStep: null,
    },
  ],
  definitions: {
    list: {
      type: "object",
      properties: {
        value: { type: "array", items: { allOf: Array.from({ length: 200 }, (_, n) => ({ minimum: -n })) } },
      },
      required: ["value"],
    },
  },
});
