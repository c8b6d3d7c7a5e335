import { randomUUID } from "node:crypto";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test, vi } from "vitest";
import { childJob, forEach, noop, type StepSketch, textOf, transform, wait } from "../../core/job/jobs.ts";

interface Child {
  readonly jobId: string;
  readonly status: string;
  readonly step: string;
  readonly branch?: string;
}

interface Job {
  readonly jobId: string;
  readonly status: string;
  readonly output: unknown;
  readonly error?: { readonly code: string; readonly type?: string; readonly message: string; readonly cause?: object };
  readonly parentJob?: { readonly jobId: string; readonly depth: number; readonly rootJobId: string };
  readonly childJobs?: { readonly count: number; readonly newest?: readonly Child[] };
}

interface Explained {
  readonly state: string;
  readonly sentence: string;
  readonly facts: object;
}

const waitOptions = { timeout: 10_000 };

/* The SQL statements for child jobs are tested on both homes of the store in test/engine/scenarios/scenarios-children.test.ts. */
onOneStore((home) => {
  const service = useService(home, { STEPWELL_MAX_DESCENDANTS_PER_JOB: "5" });

  /** Makes an organization with workflows that begin jobs of each other by name. */
  async function family(workflows: Record<string, readonly StepSketch[]>) {
    const { api } = await service.newOrganization();
    const ids: Record<string, string> = {};
    for (const [name, steps] of Object.entries(workflows)) {
      ids[name] = (await deploy(api, textOf(steps), name)).workflowId;
    }
    const idOf = (name: string) => ids[name] ?? "";
    const read = async (jobId: string, waitSeconds = 0) =>
      (await api.call<Job>("GetJob", { params: { jobId }, query: waitSeconds > 0 ? { waitSeconds } : {} })).body;
    const begin = async (name: string, inputJson: object = {}) =>
      (await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId: idOf(name), inputJson } })).body.jobId;
    const childOf = async (jobId: string) => {
      let child: Child | undefined;
      await vi.waitFor(async () => {
        child = (await read(jobId)).childJobs?.newest?.[0];
        expect(child).toBeDefined();
      }, waitOptions);
      return child?.jobId ?? "";
    };
    return { api, begin, childOf, read, idOf };
  }

  test("a job starts child jobs for its items, and GetJob and ListJobs show how they are related", async () => {
    const { api, begin, read } = await family({
      root: [
        forEach("each", { items: [1, 2], step: "begin" }, "end"),
        childJob("begin", "leaf", null, { mapping: { input: { n: "${ item }" } } }),
        transform("end", { sum: "${ sum(steps.each.output.map(one, one.n)) }" }, null),
      ],
      leaf: [transform("add", { n: "${ input.n + 10 }" }, null)],
    });
    const jobId = await begin("root");

    const root = await read(jobId, 20);
    expect(root).toMatchObject({ status: "SUCCEEDED", output: { sum: 23 }, childJobs: { count: 2 } });
    expect(root.parentJob).toBeUndefined();
    const children = root.childJobs?.newest ?? [];
    expect(children.map(({ branch, step, status }) => `${branch} ${step} ${status}`).toSorted()).toEqual([
      "each:1[0] begin SUCCEEDED",
      "each:1[1] begin SUCCEEDED",
    ]);
    const child = await read(children[0]?.jobId ?? "");
    expect(child.parentJob).toMatchObject({ jobId, rootJobId: jobId, depth: 1, step: "begin", visit: 1 });
    expect(child.childJobs).toBeUndefined();

    const list = async (query: Record<string, string>) =>
      (await api.call<{ jobs: Job[] }>("ListJobs", { query })).body.jobs.map((job) => job.jobId).toSorted();
    const childIds = children.map((one) => one.jobId).toSorted();
    expect(await list({ jobHierarchy: "TOP_LEVEL_ONLY" })).toEqual([jobId]);
    expect(await list({ jobHierarchy: "ALL" })).toEqual([jobId, ...childIds].toSorted());
    expect(await list({ parentJobId: jobId })).toEqual(childIds);
    expect(await list({ parentJobId: randomUUID() })).toEqual([]);
    const [listed] = (await api.call<{ jobs: Job[] }>("ListJobs", { query: { jobHierarchy: "TOP_LEVEL_ONLY" } })).body
      .jobs;
    expect(listed?.childJobs).toEqual({ count: 2 });
  });

  test("a job that waits for its child names the child, and an event for the child lets both continue", async () => {
    const { api, begin, childOf, read } = await family({
      root: [childJob("begin", "leaf", null)],
      leaf: [wait("approve", ["approved"], null)],
    });
    const jobId = await begin("root");
    const childId = await childOf(jobId);
    await vi.waitFor(async () => {
      const { body } = await api.call<{ state: string; facts: object }>("ExplainJob", { params: { jobId } });
      expect(body).toMatchObject({
        state: "waitingForJob",
        facts: { step: "begin", childJob: { jobId: childId, workflowName: "leaf", status: "RUNNING" } },
      });
    }, waitOptions);

    await api.call("SendJobEvent", { params: { jobId: childId }, body: { eventId: "approved" } });

    expect(await read(jobId, 20)).toMatchObject({ status: "SUCCEEDED" });
    expect(await read(childId)).toMatchObject({ status: "SUCCEEDED" });
  });

  test("a cancellation of the parent cancels its children, and a resume continues the same children", async () => {
    const { api, begin, childOf, read } = await family({
      root: [childJob("begin", "middle", null)],
      middle: [childJob("begin", "leaf", null)],
      leaf: [wait("approve", ["approved"], null)],
    });
    const jobId = await begin("root");
    const middleId = await childOf(jobId);
    const leafId = await childOf(middleId);

    expect((await api.call<Job>("CancelJob", { params: { jobId } })).body.status).toBe("CANCELLED");
    expect(await read(leafId, 20)).toMatchObject({ status: "CANCELLED" });
    expect(await read(middleId)).toMatchObject({ status: "CANCELLED" });

    await api.call("ResumeJob", { params: { jobId } });
    await expect.poll(async () => (await read(leafId)).status).toBe("RUNNING");
    await api.call("SendJobEvent", { params: { jobId: leafId }, body: { eventId: "approved" } });

    expect(await read(jobId, 20)).toMatchObject({ status: "SUCCEEDED", childJobs: { count: 1 } });
    const { body } = await api.call<{ entries: { type: string }[] }>("GetJobHistory", { params: { jobId: leafId } });
    expect(body.entries.filter(({ type }) => type === "job.resumed")).toHaveLength(1);
  });

  test("a child that fails fails its parent with its error as the cause", async () => {
    const { begin, read } = await family({
      root: [childJob("begin", "leaf", null)],
      leaf: [noop("look", "divide"), transform("divide", { n: "${ input.missing }" }, null)],
    });

    const { error, childJobs } = await read(await begin("root"), 20);

    expect(error).toMatchObject({
      code: "ChildFailed",
      type: "ExpressionFailed",
      cause: { code: "ExpressionFailed", step: "divide", jobId: childJobs?.newest?.[0]?.jobId },
    });
  });

  test.each([
    ["a workflow that is not there", { workflow: "nowhere" }, "nowhere"],
    ["a tag that is not set", { workflow: "leaf", tag: "$NONE" }, "$NONE"],
    ["a version that does not exist", { workflow: "leaf", versionNumber: 7 }, "version 7"],
  ])("%s fails the step, and the job continues after a resume", async (_, config, named) => {
    const { api, begin, read } = await family({
      root: [{ ...childJob("begin", "leaf", null), config }],
      leaf: [noop("only", null)],
    });
    const jobId = await begin("root");

    const { status, error, childJobs } = await read(jobId, 20);

    expect([status, error?.code, childJobs]).toEqual(["FAILED", "ChildNotStarted", undefined]);
    expect(error?.message).toContain(named);
    expect((await api.call<Job>("ResumeJob", { params: { jobId } })).status).toBe(200);
  });

  test.each([
    ["a value", noop("only", null, { input: "closed" }), "/n is required."],
    [
      "an expression",
      transform("only", { n: "${ input.n }" }, null),
      "In `input` at /n of only, `input.n` is not there; before you read it, ask with `has(input.n)`.",
    ],
  ])("an input that does not fit %s of the other workflow starts no job", async (_, only, problem) => {
    const { api } = await service.newOrganization();
    const closed = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    await deploy(api, textOf([only], { closed }), "leaf");
    const { workflowId } = await deploy(api, textOf([childJob("begin", "leaf", null)]), "root");

    const { body } = await submitAndWait(api, workflowId, {}).then(({ jobId }) =>
      api.call<Job>("GetJob", { params: { jobId }, query: { waitSeconds: 20 } }),
    );

    expect(body).toMatchObject({ status: "FAILED", error: { code: "ChildNotStarted" } });
    const why = "The input does not fit the input definition of only, the first step of leaf.";
    expect(body.error?.message).toBe(`No job of \`leaf\` could be started. ${why} ${problem}`);
    expect(body.childJobs).toBeUndefined();
  });

  test("a tree of jobs cannot have more child jobs than the configuration allows", async () => {
    const { begin, read } = await family({
      root: [
        forEach("each", { items: [1, 2, 3, 4, 5, 6], step: "begin", concurrency: 1, onItemFailure: "collect" }, null),
        childJob("begin", "leaf", null, { mapping: { input: {} } }),
      ],
      leaf: [noop("only", null)],
    });

    const { output, childJobs } = await read(await begin("root"), 20);

    expect(childJobs?.count).toBe(5);
    expect((output as { status: string; error?: { code: string } }[])[5]).toMatchObject({
      status: "failed",
      error: { code: "TooManyChildren" },
    });
  });

  test("a step with a timeout abandons its child, which is cancelled", async () => {
    const { begin, childOf, read } = await family({
      root: [{ ...childJob("begin", "leaf", null), timeoutSeconds: 3 }],
      leaf: [wait("approve", ["approved"], null)],
    });
    const jobId = await begin("root");
    const childId = await childOf(jobId);

    expect(await read(jobId, 20)).toMatchObject({ status: "FAILED", error: { code: "Timeout" } });
    expect(await read(childId, 20)).toMatchObject({ status: "CANCELLED" });
  });

  test("a token that is bound to a workflow sees no jobs of other workflows", async () => {
    const { api, begin, read, idOf } = await family({
      root: [childJob("begin", "middle", "again"), childJob("again", "root-leaf", null)],
      middle: [noop("only", null)],
      "root-leaf": [noop("only", null)],
    });
    const jobId = await begin("root");
    const children = (await read(jobId, 20)).childJobs?.newest ?? [];
    expect(children).toHaveLength(2);
    const middleId = children.find(({ step }) => step === "begin")?.jobId ?? "";
    const boundTo = { workflowIds: [idOf("root"), idOf("middle")] };
    const body = { name: "narrow", permissions: ["job:list"], boundTo };
    const { token } = (await api.call<{ token: string }>("CreateApiToken", { body })).body;
    const narrow = api.as(token);

    const seen = (await narrow.call<Job>("GetJob", { params: { jobId } })).body;
    expect(seen.childJobs?.newest?.map((child) => child.jobId)).toEqual([middleId]);
    expect((await narrow.call<Job>("GetJob", { params: { jobId: middleId } })).body.parentJob).toBeUndefined();
    const { jobs } = (await narrow.call<{ jobs: Job[] }>("ListJobs")).body;
    expect(jobs.map((job) => [job.jobId, job.parentJob, job.childJobs])).toEqual([
      [middleId, undefined, undefined],
      [jobId, undefined, undefined],
    ]);
  });

  test("a token that is bound to a workflow cancels a job without learning who began it", async () => {
    const { api, begin, childOf, idOf } = await family({
      root: [childJob("begin", "leaf", null)],
      leaf: [wait("approve", ["approved"], null)],
    });
    const childId = await childOf(await begin("root"));
    const body = { name: "narrow", permissions: ["job:cancel"], boundTo: { workflowIds: [idOf("leaf")] } };
    const { token } = (await api.call<{ token: string }>("CreateApiToken", { body })).body;
    const { body: cancelled } = await api.as(token).call<Job>("CancelJob", { params: { jobId: childId } });
    expect([cancelled.jobId, cancelled.parentJob]).toEqual([childId, undefined]);
  });

  test("the explanation of a job that waits for its child does not name a child that the token may not see", async () => {
    const { api, begin, childOf, idOf } = await family({
      root: [childJob("begin", "leaf", null)],
      leaf: [wait("approve", ["approved"], null)],
    });
    const jobId = await begin("root");
    await childOf(jobId);
    const body = { name: "narrow", permissions: ["job:read"], boundTo: { workflowIds: [idOf("root")] } };
    const { token } = (await api.call<{ token: string }>("CreateApiToken", { body })).body;
    const explain = async () => (await api.as(token).call<Explained>("ExplainJob", { params: { jobId } })).body;
    await expect.poll(async () => (await explain()).state).toBe("waitingForJob");
    const { sentence, facts } = await explain();
    expect(sentence).toMatch(/^`begin` has waited for [^`]* for the job that it began\.$/);
    expect(Object.keys(facts).toSorted()).toEqual(["attempt", "operations", "since", "step", "visit"]);
  });

  test("a step that does not wait gives the id of the job that it started", async () => {
    const { begin, read } = await family({
      root: [childJob("begin", "leaf", null, { wait: false })],
      leaf: [wait("approve", ["approved"], null)],
    });

    const { output, childJobs } = await read(await begin("root"), 20);

    expect(output).toEqual({ jobId: childJobs?.newest?.[0]?.jobId });
  });
});
