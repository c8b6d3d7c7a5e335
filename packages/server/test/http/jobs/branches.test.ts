import { randomUUID } from "node:crypto";
import type { Client } from "@stepwell/testing/client.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { delay, forEach, noop, parallel, textOf, transform, wait } from "../../core/job/jobs.ts";

interface Run {
  readonly name: string;
  readonly branch?: string;
  readonly status: string;
  readonly branchCount?: number;
}

interface Job {
  readonly jobId: string;
  readonly status: string;
  readonly output: unknown;
  readonly steps: readonly Run[];
  readonly error?: { readonly code: string; readonly cause?: object };
}

interface Branches {
  readonly branches: readonly {
    readonly branch: string;
    readonly place: number;
    readonly step: string;
    readonly status: string;
  }[];
  readonly nextPageToken?: string;
}

async function listBranches(job: Client, query: Record<string, string | number>): Promise<{ body: Branches }[]> {
  const pages: { body: Branches }[] = [];
  for (let pageToken: string | undefined; ; ) {
    const paged = { ...query, ...(pageToken !== undefined && { pageToken }) };
    const { body } = await job.call<Branches>("ListJobBranches", { query: paged });
    pages.push({ body });
    pageToken = body.nextPageToken;
    if (pageToken === undefined) return pages;
  }
}

const stepOf = ({ step }: Branches["branches"][number]) => step;
const named = ({ name, branch = "", status }: Run) => `${branch} ${name} ${status}`;

onOneStore((home) => {
  const service = useService(home);

  test("events that are sent at the same time end one wait each, even if every wait would take several of them", async () => {
    const { api } = await service.newOrganization();
    const list = Array.from({ length: 24 }, (_, index) => index);
    const { workflowId } = await deploy(
      api,
      textOf([
        forEach("each", { items: "${ input.list }", step: "make", concurrency: list.length, output: "counts" }, null),
        transform("make", { text: "${ input.text + string(index) }" }, "hold"),
        wait("hold", ["x", "z"], null, { match: "any" }),
      ]),
    );
    // The values of the branches are large enough to be stored separately, so that a commit does not read all of them.
    const { jobId } = await submitAndWait(api, workflowId, { list, text: "y".repeat(5_000) });
    const job = api.bind({ jobId });
    await expect
      .poll(async () => (await listBranches(job, { step: "each", pageSize: 200 }))[0]?.body.branches.map(stepOf))
      .toEqual(list.map(() => "hold"));
    const outcomes = await Promise.all(
      list.map(async (index) => {
        const headers = { "idempotency-key": randomUUID() };
        const body = { eventId: index % 3 === 2 ? "z" : "x" };
        return (await job.call<{ outcome: string }>("SendJobEvent", { body, headers })).body.outcome;
      }),
    );
    expect(outcomes).toEqual(list.map(() => "matched"));
    expect((await job.call<Job>("GetJob", { query: { waitSeconds: 20 } })).body.status).toBe("SUCCEEDED");
  });

  test("an event goes to the branch that it names, and lists, history and explanation say which branch", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(
      api,
      textOf([
        forEach("each", { items: "${ input.orders }", step: "approve" }, null),
        { ...wait("approve", ["approved"], "told"), mapping: { output: { by: "${ events.approved.payload.by }" } } },
        transform("told", { order: "${ item }", by: "${ steps.approve.output.by }" }, null),
      ]),
    );
    const { jobId } = await submitAndWait(api, workflowId, { orders: ["a", "b"] });
    const job = api.bind({ jobId });
    const send = (branch: string, by: string) =>
      job.call<{ outcome: string }>("SendJobEvent", {
        body: { eventId: "approved", step: "approve", branch, payload: { by } },
        headers: { "idempotency-key": randomUUID() },
      });

    const explained = (await job.call<{ state: string; facts: { branch?: string } }>("ExplainJob")).body;
    expect(explained).toMatchObject({ state: "forked", facts: { branch: "each:1[0]", branchCount: 2, openCount: 2 } });

    expect((await send("each:1[1]", "Ada")).body.outcome).toBe("matched");
    const inBranch = await job.call<{ steps: Run[] }>("ListJobSteps", { query: { branch: "each:1[1]" } });
    expect(inBranch.body.steps.map(named)).toEqual(["each:1[1] approve success", "each:1[1] told success"]);
    await send("each:1[0]", "Ben");

    const ended = (await job.call<Job>("GetJob", { query: { waitSeconds: 20 } })).body;
    expect(ended).toMatchObject({
      status: "SUCCEEDED",
      output: [
        { order: "a", by: "Ben" },
        { order: "b", by: "Ada" },
      ],
    });
    const all = await job.call<{ steps: Run[] }>("ListJobSteps");
    expect(all.body.steps).toEqual(ended.steps);
    expect(all.body.steps.map(named)).toEqual([
      " each success",
      "each:1[0] approve success",
      "each:1[1] approve success",
      "each:1[1] told success",
      "each:1[0] told success",
    ]);
    const history = await job.call<{ entries: object[] }>("GetJobHistory");
    expect(history.body.entries).toContainEqual(
      expect.objectContaining({ type: "step.forked", step: "each", branchCount: 2, items: ["a", "b"] }),
    );
    const events = await job.call<{ events: object[] }>("ListJobEvents");
    expect(events.body.events[0]).toMatchObject({ branch: "each:1[1]", consumedByBranch: "each:1[1]" });
  });

  test("a failure in a branch is the cause of the job's error", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(
      api,
      textOf([
        parallel("split", { left: "a", right: "b" }, null),
        transform("a", "${ input.no }", null),
        noop("b", null),
      ]),
    );
    const { jobId } = await submitAndWait(api, workflowId);
    const job = (await api.call<Job>("GetJob", { params: { jobId } })).body;
    expect(job).toMatchObject({
      status: "FAILED",
      error: { code: "BranchFailed", cause: { code: "ExpressionFailed", step: "a", branch: "split:1[left]" } },
    });
  });

  test("GetJob shows the wait of a branch as the current step, with its events, although another branch started a step later", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(
      api,
      textOf([
        parallel("split", { left: "approve", right: "sleep" }, null),
        wait("approve", ["approved"], null),
        delay("sleep", { seconds: 3600 }, null),
      ]),
    );
    const { jobId } = await submitAndWait(api, workflowId);
    const { body } = await api.call<{ currentStep: object }>("GetJob", { params: { jobId } });
    const awaiting = { missingEventIds: ["approved"] };
    expect(body.currentStep).toMatchObject({ name: "approve", branch: "split:1[left]", awaiting });
  });

  test("GetJob shows the step that has the branches as the current step while none of them waits for events", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(
      api,
      textOf([
        parallel("split", { left: "sleep", right: "done" }, null),
        delay("sleep", { seconds: 3600 }, null),
        noop("done", null),
      ]),
    );
    const { jobId } = (await api.call<Job>("SubmitJob", { body: { workflowId } })).body;
    const job = async () => (await api.call<Job & { currentStep: object }>("GetJob", { params: { jobId } })).body;
    await expect.poll(async () => (await job()).steps.length).toBe(3);
    expect((await job()).currentStep).toMatchObject({ name: "split", branchCount: 2 });
  });

  test("the items of a step are listed in pages, the failed ones first, and each page has the counts of all items", async () => {
    const { api } = await service.newOrganization();
    const config = { items: "${ input.list }", step: "check", concurrency: 2, onItemFailure: "collect" };
    const { workflowId } = await deploy(
      api,
      textOf([
        forEach("each", config, null),
        transform("check", "${ item == 'bad' ? input.no : item }", "approve"),
        wait("approve", "${ item == 'good' ? ['approved'] : ['shipped'] }", null),
      ]),
    );
    const { jobId } = await submitAndWait(api, workflowId, { list: ["good", "bad", "late", "bad", "good"] });
    const job = api.bind({ jobId });
    await job.call("SendJobEvent", { body: { eventId: "approved" } });
    const counts = { branchCount: 5, openCount: 2, succeededCount: 1, failedCount: 2, cancelledCount: 0 };
    const pages = await listBranches(job, { pageSize: 2 });
    for (const { body } of pages) expect(body).toMatchObject({ step: "each", visit: 1, ...counts });
    const error = { code: "ExpressionFailed", step: "check", branch: "each:1[1]" };
    expect(pages[0]?.body.branches[0]).toMatchObject({ branch: "each:1[1]", place: 1, step: "check", error });
    expect(pages.map(({ body }) => body.branches.map(({ place, status }) => `${place} ${status}`))).toEqual([
      ["1 failed", "3 failed"],
      ["2 open", "4 open"],
      ["0 succeeded"],
    ]);
    const failed = await listBranches(job, { step: "each", visit: 1, status: "failed" });
    expect(failed.map(({ body }) => body.branches.map(({ place }) => place))).toEqual([[1, 3]]);
    expect((await listBranches(job, { branch: "each:1[2]" }))[0]?.body).toMatchObject({ branchCount: 0, branches: [] });
    await job.refused("ListJobBranches", "ValidationError", { query: { status: "done" } });
    await job.refused("ListJobBranches", "ValidationError", { query: { pageToken: "x" } });
  });

  test("the counts of a long list's items keep up with the job", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(
      api,
      textOf([
        forEach("each", { items: "${ input.list }", step: "work", concurrency: 1, output: "counts" }, null),
        { ...noop("work", null), transitionToStep: { choose: [{ if: "index == 300", then: "gate" }], else: null } },
        wait("gate", ["go"], null),
      ]),
    );
    const list = Array.from({ length: 600 }, (_, index) => ({ index, text: "some words for each item" }));
    const { jobId } = await submitAndWait(api, workflowId, { list });
    const job = api.bind({ jobId });
    const counts = async () => (await job.call<object>("ListJobBranches", { query: { pageSize: 1 } })).body;
    const before = { branchCount: 600, succeededCount: 300, openCount: 1, branches: [{ place: 300, step: "gate" }] };
    expect(await counts()).toMatchObject(before);
    expect(await counts()).toMatchObject(before);
    await job.call("SendJobEvent", { body: { eventId: "go" } });
    await job.call("GetJob", { query: { waitSeconds: 20 } });
    expect(await counts()).toMatchObject({ succeededCount: 600, openCount: 0, branches: [{ place: 0 }] });
  });

  test("a list of 2,000 items runs in several commits, its runs are listed in pages, and the job has its output", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(
      api,
      textOf([forEach("each", { items: "${ input.list }", step: "work" }, null), noop("work", null)]),
    );
    const list = Array.from({ length: 2_000 }, (_, index) => ({ index, text: "some words for each item" }));
    const { jobId } = await submitAndWait(api, workflowId, { list });
    const job = api.bind({ jobId });
    const { status, output, steps } = (await job.call<Job>("GetJob", { query: { waitSeconds: 20 } })).body;
    expect(status).toBe("SUCCEEDED");
    expect(output).toEqual(list);
    expect(steps).toHaveLength(1_000);
    const runs: Run[] = [];
    for (let pageToken: string | undefined; ; ) {
      const { body } = await job.call<{ steps: Run[]; nextPageToken?: string }>("ListJobSteps", {
        query: { pageSize: 100, ...(pageToken !== undefined && { pageToken }) },
      });
      runs.push(...body.steps);
      pageToken = body.nextPageToken;
      if (pageToken === undefined) break;
    }
    expect(runs.map(named)).toEqual([" each success", ...list.map(({ index }) => `each:1[${index}] work success`)]);
    const branches = await listBranches(job, { pageSize: 200 });
    expect(branches.flatMap(({ body }) => body.branches.map(({ place }) => place))).toEqual(
      list.map(({ index }) => index),
    );
    expect(branches[0]?.body).toMatchObject({ step: "each", visit: 1, branchCount: 2_000, succeededCount: 2_000 });
  });
});
