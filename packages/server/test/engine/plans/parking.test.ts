import { definitionOf, straightDefinition, waitingDefinition, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { callingDefinition, FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import { said } from "@stepwell/testing/notes.ts";
import { type TestOrganization, TestService, useService } from "@stepwell/testing/service.ts";
import { onEveryStore, onOneStore } from "@stepwell/testing/stores.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Config, readConfig } from "../../../src/config.ts";
import type { Command } from "../../../src/engine/commit/command.ts";
import { type CommitStats, GroupCommit } from "../../../src/engine/commit/group-commit.ts";
import { executorCatalog } from "../../../src/engine/executors/catalog.ts";
import { DatabaseClock } from "../../../src/engine/node/clock.ts";
import type { NodeEngine } from "../../../src/engine/node-engine.ts";
import { type ParkedThing, Parking, UnreadableVersionError } from "../../../src/engine/plans/parking.ts";
import { Plans } from "../../../src/engine/plans/plans.ts";
import { type Database, StatementGivenUpError } from "../../../src/store/home/database.ts";
import { childJob, textOf } from "../../core/job/jobs.ts";
import { insertDueJobs } from "../../store/jobs/due-rows.ts";
import { failRow } from "../../store/jobs/failing-row.ts";
import { cancelled, eventReceived, happening, keyed, submission } from "../commands.ts";

describe("a parked version or job", () => {
  const version = { organizationId: "o", versionId: "v" };
  const job = { organizationId: "o", jobId: "j" };

  function parkingAt(start: number) {
    const clock = { now: start };
    const told: string[] = [];
    const tell = (event: string) => (what: ParkedThing) =>
      told.push(`${event} ${"versionId" in what ? what.versionId : what.jobId}`);
    const parking = new Parking({ now: () => clock.now, onParked: tell("parked"), onReleased: tell("released") });
    return { clock, told, parking };
  }

  test("is left alone for a second, and for twice as long after each further failure, up to a minute", () => {
    const { clock, parking } = parkingAt(5_000);
    const pauses = [1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => {
      parking.parkVersion(version, new Error("a detail of the program"));
      const parked = parking.findVersion("v");
      clock.now += seconds * 1_000 - 1;
      expect(parking.leftOut()).toEqual({ versionIds: ["v"], jobIds: [] });
      clock.now += 1;
      expect(parking.findVersion("v")).toBeUndefined();
      expect(parking.leftOut()).toEqual({ versionIds: [], jobIds: [] });
      // An error that is not about the definition appears only in the log.
      expect(parked?.reason).toBeUndefined();
      return parked?.retryInMs;
    });
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(parking.versionCount).toBe(1);
    parking.parkVersion(version, new UnreadableVersionError("it is of a later release"));
    expect(parking.findVersion("v")).toEqual({
      reason: "it is of a later release",
      parkedForMs: 183_000,
      retryInMs: 60_000,
    });
  });

  test("is reported once for each try, however many facts fail in it, and once when it continues", () => {
    const { clock, told, parking } = parkingAt(0);
    parking.parkJob(job, new Error("one"));
    parking.parkJob(job, new Error("another"));
    clock.now += 1_000;
    parking.parkJob(job, new Error("one"));
    parking.releaseJob("j");
    parking.releaseJob("j");
    expect(told).toEqual(["parked j", "parked j", "released j"]);
    expect(parking.jobCount).toBe(0);
  });

  test("is forgotten if no fact tries it again, or if too many are parked", () => {
    const { clock, parking } = parkingAt(0);
    parking.parkVersion(version, "it is unknown");
    clock.now += 601_000;
    expect(parking.versionCount).toBe(0);
    for (let count = 0; count <= 1_000; count += 1)
      parking.parkJob({ organizationId: "o", jobId: `${count}` }, "it fails");
    expect(parking.jobCount).toBe(1_000);
    expect([parking.isOnTrial("0"), parking.isOnTrial("1")]).toEqual([false, true]);
  });
});

/** A definition that a future release might allow. */
const laterDefinition = definitionOf({
  name: "ask",
  integrationDetails: {
    type: "/service/fromALaterRelease",
    inputDefinition: { type: "object" },
    outputDefinition: { type: "object" },
  },
  transitionToStep: null,
});

const functions = await FunctionServer.start();
afterAll(() => functions.stop());

onEveryStore((home) => {
  const service = useService(home, functions.environment);
  let engine: NodeEngine;
  let organization: TestOrganization;

  beforeAll(async () => {
    engine = service.running.engine;
    organization = await service.newOrganization();
  });

  async function workflowOf(definition: string) {
    const { workflowId, versionId } = await deploy(organization.api, definition);
    return { organizationId: organization.organizationId, workflowId, versionId };
  }

  /** Changes the stored version into one that this release does not understand. */
  async function outdate({ versionId }: { readonly versionId: string }): Promise<void> {
    const text = "UPDATE workflow_version SET definition = $2 WHERE version_id = $1";
    await service.running.database.query(said(text), [versionId, laterDefinition]);
  }

  async function jobOf(workflow: { readonly organizationId: string; readonly workflowId: string }) {
    const command = submission(engine, workflow);
    await engine.commit(command);
    return command;
  }

  /** Makes a group commit with plans of its own, as another node has them. */
  function groupCommit(database: Database = service.running.database, settings: Partial<Config> = {}) {
    const config = { ...readConfig({}), ...settings };
    const commits: CommitStats[] = [];
    const defects: Command[] = [];
    const plans = new Plans(executorCatalog(config), config);
    const commit = new GroupCommit({
      ...config,
      database,
      clock: new DatabaseClock(),
      plans,
      nodeId: engine.nodeId,
      limits: { maxStepRuns: 100, maxEvents: 100, maxOutputBytes: 10_000, maxCarriedBytes: 1_000_000 },
      hasRoomForCall: () => true,
      storeFullError: () => undefined,
      beginsAtOnce: () => () => true,
      leaseTerm: () => 1,
      onCommitted: (_changed, stats) => commits.push(stats),
      onDefect: (_error, command) => defects.push(command),
    });
    return { commit, commits, defects, parking: plans.parking };
  }

  test("a version that a node cannot compile fails its own commands at once, and the others of the batch share one commit", async () => {
    const { commit, commits, defects } = groupCommit();
    const [waiting, straight, unreadable] = [
      await workflowOf(waitingDefinition),
      await workflowOf(straightDefinition),
      await workflowOf(waitingDefinition),
    ];
    const [healthy, parked] = [await jobOf(waiting), await jobOf(unreadable)];
    const before = await engine.readJob(parked);
    await outdate(unreadable);
    const key = keyed(engine.newId());
    // These submissions load the plans of the other versions. So the batch takes little time, and no command is deferred to the next one.
    for (const workflow of [waiting, straight]) await commit.commit(submission(engine, workflow));
    commits.length = 0;

    const outcomes = await Promise.allSettled([
      commit.commit(submission(engine, straight)),
      commit.commit(happening(parked, eventReceived("approved"))),
      commit.commit(happening(healthy, eventReceived("approved"))),
      commit.commit(happening(parked, cancelled)),
      commit.commit(submission(engine, unreadable, key)),
      commit.commit(happening(parked, { type: "timer.due" }), "engine"),
      commit.commit(submission(engine, straight)),
    ]);

    const refused = {
      status: "rejected",
      reason: {
        code: "UnavailableError",
        message: expect.stringMatching(
          /cannot read this version .*fromALaterRelease.* Nothing was changed\. .*operator/,
        ),
        retryAfterSeconds: 1,
      },
    };
    expect(outcomes).toMatchObject([
      { status: "fulfilled" },
      refused,
      { status: "fulfilled", value: { answer: { status: "SUCCEEDED" } } },
      refused,
      refused,
      refused,
      { status: "fulfilled" },
    ]);
    expect(commits.map(({ commandCount }) => commandCount)).toEqual([7]);
    expect(defects).toEqual([]);
    // The key of the rejected submission can be used again.
    expect(await commit.commit(submission(engine, straight, key))).toMatchObject({ type: "done" });
    expect(await engine.readJob(parked)).toEqual(before);
  });

  test.each([
    ["a statement that takes too long", "57014"],
    ["a disk without room", "53100"],
    ["too little memory", "53200"],
    ["an error of the disk", "58030"],
    ["a damaged page", "XX001"],
  ])("%s on one job's row fails only that job's command, in few rounds", async (_name, sqlState) => {
    const { commit, commits, parking } = groupCommit();
    const waiting = await workflowOf(waitingDefinition);
    const jobs = await Promise.all(Array.from({ length: 25 }, () => jobOf(waiting)));
    const [failing] = jobs;
    if (failing === undefined) throw new Error("There is no job.");
    const mend = await failRow(service.running.database, failing, sqlState);

    const outcomes = await Promise.allSettled(
      jobs.map((job) => commit.commit(happening(job, eventReceived("approved")))),
    );

    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", ...jobs.slice(1).map(() => "fulfilled")]);
    expect(outcomes[0]).toMatchObject({ reason: { fate: "nothing-written" } });
    expect((outcomes[0] as PromiseRejectedResult).reason).toBeInstanceOf(StatementGivenUpError);
    expect(commits.map(({ commandCount }) => commandCount)).toEqual([1, 1, 1, 1, 5, 5, 5, 5]);
    // The caller gets the error, so the job is not parked.
    expect(parking.jobCount).toBe(0);
    await mend();
    expect(await commit.commit(happening(failing, eventReceived("approved")))).toMatchObject({ type: "done" });
  });

  test("an internal error on one job parks that job, and the others of its batch share one commit", async () => {
    const { commit, commits, parking } = groupCommit();
    const straight = await workflowOf(straightDefinition);
    const [jobId = ""] = await insertDueJobs(service.running.database, {
      ...straight,
      isNewVersion: false,
      count: 1,
      isWait: false,
      dueAt: engine.now() - 1_000,
      resumeAt: "a step that the version does not have",
    });
    const healthy = submission(engine, straight);

    const outcomes = await Promise.allSettled([
      commit.commit(happening({ ...straight, jobId }, { type: "timer.due" }), "engine"),
      commit.commit(healthy),
    ]);

    const parked = { code: "UnavailableError", message: expect.stringContaining("parked the job") };
    expect(outcomes).toMatchObject([{ status: "rejected", reason: parked }, { status: "fulfilled" }]);
    expect(commits.map(({ commandCount }) => commandCount)).toEqual([2]);
    expect(parking.leftOut()).toEqual({ versionIds: [], jobIds: [jobId] });
    // The job is parked, but a cancellation needs none of its steps, so it is applied.
    expect(await commit.commit(happening({ ...straight, jobId }, cancelled))).toMatchObject({
      answer: { status: "CANCELLED" },
    });
    expect(parking.jobCount).toBe(0);
  });

  test("a job on which a fact of the engine failed is tried alone until a fact is committed", async () => {
    const { commit, commits, defects, parking } = groupCommit();
    const waiting = await workflowOf(waitingDefinition);
    const [failing, ...healthy] = await Promise.all([1, 2, 3].map(() => jobOf(waiting)));
    if (failing === undefined) throw new Error("There is no job.");
    const mend = await failRow(service.running.database, failing, "22000");
    const approve = (job: typeof failing, sender: "caller" | "engine" = "caller") =>
      commit.commit(happening(job, eventReceived("approved")), sender);
    const parked = { code: "UnavailableError", message: expect.stringContaining("parked the job") };

    await expect(approve(failing, "engine")).rejects.toMatchObject(parked);
    expect(parking.leftOut()).toMatchObject({ jobIds: [failing.jobId] });
    const [first, ...others] = await Promise.allSettled([failing, ...healthy].map((job) => approve(job)));

    expect(first).toMatchObject({ status: "rejected", reason: parked });
    expect(others).toMatchObject([{ status: "fulfilled" }, { status: "fulfilled" }]);
    expect(commits.map(({ commandCount }) => commandCount)).toEqual([2]);
    expect(defects).toHaveLength(1);
    await mend();
    expect(await approve(failing)).toMatchObject({ type: "done" });
    expect(parking.jobCount).toBe(0);
  });

  test("the outcome of a call is kept until the database has room again", async () => {
    const { commit, parking } = groupCommit();
    const job = await jobOf(await workflowOf(callingDefinition("held")));
    const mend = await failRow(service.running.database, job, "53100");
    const succeeded = { type: "step.succeeded", branch: "", step: "call", visit: 1, epoch: 1, output: {} } as const;

    const reported = commit.commit(happening(job, succeeded), "engine");
    await expect.poll(() => parking.findJob(job.jobId)).toBeDefined();
    await mend();

    expect(await reported).toMatchObject({ type: "done", answer: { status: "SUCCEEDED" } });
  });

  test("the outcome that a worker reports for a failing row is tried a few times, and refused at its deadline", async () => {
    const { database } = service.running;
    let attempts = 0;
    const counted: Database = {
      ...database,
      groupOf: (organizationId) => database.groupOf(organizationId),
      async transaction(work, options) {
        attempts += 1;
        return await database.transaction(work, options);
      },
    };
    const { commit, parking } = groupCommit(counted, { commitTimeoutMs: 1_000 });
    const job = await jobOf(await workflowOf(callingDefinition("held")));
    const mend = await failRow(database, job, "53100");
    const succeeded = { type: "step.succeeded", branch: "", step: "call", visit: 1, epoch: 1, output: {} } as const;
    parking.parkJob(job, new Error("An earlier fact has failed."));
    await expect.poll(() => parking.findJob(job.jobId)).toBeUndefined();

    const outcome = commit.commit(happening(job, succeeded));

    await expect(outcome).rejects.toMatchObject({ code: "UnavailableError" });
    await mend();
    expect(attempts).toBeLessThan(10);
    expect(await commit.commit(happening(job, succeeded))).toMatchObject({ type: "done" });
  });

  test("callers are answered at their deadline, also while another part of their batch is tried again", async () => {
    const { database } = service.running;
    const gate = Promise.withResolvers<void>();
    let attempts = 0;
    const slow: Database = {
      ...database,
      groupOf: (organizationId) => database.groupOf(organizationId),
      async transaction(work) {
        attempts += 1;
        if (attempts === 1) throw new Error("something fails");
        if (attempts === 2) await gate.promise;
        return await database.transaction(work);
      },
    };
    const { commit, commits } = groupCommit(slow, { commitTimeoutMs: 500 });
    const straight = await workflowOf(straightDefinition);

    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => commit.commit(submission(engine, straight))));
    gate.resolve();

    expect(outcomes).toMatchObject(outcomes.map(() => ({ status: "rejected", reason: { code: "UnavailableError" } })));
    expect(attempts).toBe(2);
    // The first part is committed late. The second part is never committed, since nobody waits for it any more.
    await expect.poll(() => commits.map(({ commandCount }) => commandCount)).toEqual([2]);
    expect(await commit.commit(submission(engine, straight))).toMatchObject({ type: "done" });
    expect(attempts).toBe(3);
  });
});

onOneStore((home) => {
  let metricsPort = 0;
  let service: TestService;

  beforeAll(async () => {
    metricsPort = await findFreePort();
    service = new TestService(home, { STEPWELL_METRICS_PORT: String(metricsPort), STEPWELL_LOG_LEVEL: "silent" });
    await service.start();
  }, 60_000);
  afterAll(() => service.stop());

  test("jobs that a node cannot continue delay no other job, are explained and counted, and continue once the node can", async () => {
    const { database, engine } = service.running;
    const [own, other] = [await service.newOrganization(), await service.newOrganization()];
    const unreadable = await deploy(own.api, straightDefinition);
    const impatient = definitionOf({ ...waitStep("approve", ["approved"], null), timeoutSeconds: 0.3 });
    const [waiting, waitingOfOwn] = [await deploy(other.api, impatient), await deploy(own.api, impatient)];
    const { definition } = await readDefinition(unreadable);
    await writeDefinition(unreadable, laterDefinition);
    // These jobs have been due for longer than all others, and there are more of them than one round handles.
    const [jobId = ""] = await insertDueJobs(database, {
      organizationId: own.organizationId,
      versionId: unreadable.versionId,
      isNewVersion: false,
      count: 700,
      isWait: false,
      dueAt: engine.now() - 60_000,
    });

    for (const [{ api }, { workflowId }] of [
      [other, waiting],
      [own, waitingOfOwn],
    ] as const) {
      const job = await submitAndWait(api, workflowId);
      const { body } = await api.call<FailedJob>("GetJob", {
        params: { jobId: job.jobId },
        query: { waitSeconds: 10 },
      });
      expect(body).toMatchObject({ status: "FAILED", error: { code: "Timeout" } });
      expect(Date.parse(body.finishedAt) - Date.parse(body.createdAt)).toBeLessThan(timeLimit(3_000));
    }

    const refused = await own.api.refused("SendJobEvent", "UnavailableError", {
      params: { jobId },
      body: { eventId: "approved" },
    });
    expect(refused.body.detail).toMatch(/cannot read this version.*fromALaterRelease.*operator/);
    const { body: explained } = await own.api.call<Explained>("ExplainJob", { params: { jobId } });
    expect(explained).toMatchObject({
      state: "parked",
      sentence: expect.stringMatching(/cannot read version 1 of the workflow `test` .*fromALaterRelease/),
      facts: { operations: [] },
    });
    expect(Date.parse(explained.facts.retryAt ?? "")).toBeGreaterThan(Date.parse(explained.facts.since));
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toMatch(/stepwell_parked_versions 1\n/);
    expect(metrics).toMatch(/stepwell_parked_jobs 0\n/);
    const counted = await own.api.call("ListJobs", { query: { status: "PENDING", includeTotal: true } });
    expect(counted.body.totalCount).toBe(700);

    await writeDefinition(unreadable, definition);
    await expect
      .poll(async () => (await engine.readJob({ ...own, jobId }))?.job.state.status, { timeout: 20_000 })
      .toBe("SUCCEEDED");
    expect(engine.gauges()).toMatchObject({ parkedVersions: 0, parkedJobs: 0 });
  });

  test("a child whose version the node cannot read costs its parent no attempt, and starts once the node can read it", async () => {
    const { engine } = service.running;
    const { api, organizationId } = await service.newOrganization();
    const child = await deploy(api, straightDefinition, "child");
    const parent = await deploy(api, textOf([childJob("begin", "child", null)]), "parent");
    const { definition } = await readDefinition(child);
    await writeDefinition(child, laterDefinition);

    const submitted = await api.call<{ jobId: string }>("SubmitJob", {
      body: { workflowId: parent.workflowId, inputJson: {} },
    });
    const { jobId } = submitted.body;
    const stand = async () => (await engine.readJob({ organizationId, jobId }))?.job.state;
    await expect.poll(stand).toMatchObject({ cursors: [{ stand: { phase: "retrying", failedAttempts: 0 } }] });

    await writeDefinition(child, definition);
    await expect.poll(stand, { timeout: 20_000 }).toMatchObject({ status: "SUCCEEDED" });
  });

  async function readDefinition({ versionId }: { readonly versionId: string }): Promise<{ definition: string }> {
    const text = "SELECT definition FROM workflow_version WHERE version_id = $1";
    const [row] = await service.running.database.query(said<{ definition: string }>(text), [versionId]);
    if (row === undefined) throw new Error("There is no such version.");
    return row;
  }

  async function writeDefinition({ versionId }: { readonly versionId: string }, definition: string): Promise<void> {
    const text = "UPDATE workflow_version SET definition = $2 WHERE version_id = $1";
    await service.running.database.query(said(text), [versionId, definition]);
  }
});

interface Explained {
  readonly state: string;
  readonly sentence: string;
  readonly facts: { readonly since: string; readonly retryAt?: string };
}

interface FailedJob {
  readonly createdAt: string;
  readonly finishedAt: string;
}
