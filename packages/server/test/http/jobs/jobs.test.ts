import { request as httpRequest } from "node:http";
import {
  definitionOf,
  failingDefinition,
  noopStep,
  straightDefinition,
  waitingDefinition,
  waitStep,
} from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, registerVersion, submitAndWait } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore, onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, test } from "vitest";

const unknownId = "00000000-0000-7000-8000-000000000000";

onEveryStore((home) => {
  const service = useService(home);

  test("a submitted job answers with its id and version, and with the whole job if waitSeconds is given", async () => {
    const { api, organizationId, owner } = await service.newOrganization();
    const { workflowId, versionId } = await deploy(api, straightDefinition);
    const short = await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
    expect(short.status).toBe(201);
    expect(short.body).toMatchObject({ status: "PENDING", workflowId, versionId, versionNumber: 1 });
    expect(short.headers.get("location")).toBe(`/organizations/${organizationId}/jobs/${short.body.jobId}`);

    const whole = await submitAndWait(api, workflowId, { a: [1, "ä", null] });
    expect(whole).toMatchObject({
      status: "SUCCEEDED",
      input: { a: [1, "ä", null] },
      output: { a: [1, "ä", null] },
      versionId,
      versionNumber: 1,
      submittedBy: { type: "user", id: owner.userId },
      submittedByUser: "A user",
      steps: [
        { name: "first", type: "/service/noop", visit: 1, attempts: 1, status: "success" },
        { name: "second", type: "/service/noop", visit: 1, attempts: 1, status: "success" },
      ],
      job: { jobId: whole.jobId, status: "SUCCEEDED", submittedByUser: "A user" },
    });
    const {
      versionId: _,
      versionNumber: __,
      ...submitted
    } = whole as JobBody & { versionId: string; versionNumber: number };
    expect((await api.call("GetJob", { params: { jobId: whole.jobId } })).body).toEqual(submitted);
  });

  test("a submission without waitSeconds answers PENDING however fast the job is, and so does its repetition", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    const submission = { body: { workflowId }, headers: { "Idempotency-Key": "once" } };
    const first = await api.call<{ jobId: string; status: string }>("SubmitJob", submission);
    expect(first.body.status).toBe("PENDING");
    const { jobId } = first.body;
    const { body } = await api.call<JobBody>("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
    expect(body.status).toBe("SUCCEEDED");
    expect((await api.call("SubmitJob", submission)).body).toEqual(first.body);
    const waited = await api.call("SubmitJob", { ...submission, query: { waitSeconds: 20 } });
    expect(waited.body).toMatchObject({ jobId, status: "SUCCEEDED" });
  });

  test("a number that JavaScript can represent is returned unchanged", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    const inputJson = { big: 9007199254740991, small: -9007199254740991, tenth: 0.1, tiny: 5e-324, negative: -0.5e-9 };
    const { output } = await submitAndWait(api, workflowId, inputJson);
    expect(output).toEqual(inputJson);
  });

  test("jobs are listed newest first, and each filter finds its jobs", async () => {
    const { api } = await service.newOrganization();
    const straight = await deploy(api, straightDefinition);
    const waiting = await deploy(api, waitingDefinition);
    const done = await submitAndWait(api, straight.workflowId);
    const held = await submitAndWait(api, waiting.workflowId);
    const list = async (query: Record<string, string | number | boolean>) => {
      const { body } = await api.call<{ jobs: { jobId: string }[] }>("ListJobs", { query });
      return body.jobs.map((job) => job.jobId);
    };
    expect(await list({})).toEqual([held.jobId, done.jobId]);
    expect(await list({ status: "SUCCEEDED" })).toEqual([done.jobId]);
    expect(await list({ workflowId: waiting.workflowId })).toEqual([held.jobId]);
    expect(await list({ versionId: straight.versionId })).toEqual([done.jobId]);
    expect(await list({ awaitingEventId: "approved" })).toEqual([held.jobId]);
    expect(await list({ awaitingEventId: "Approved" })).toEqual([]);
    expect(await list({ isWaiting: true })).toEqual([held.jobId]);
    expect(await list({ isWaiting: false })).toEqual([done.jobId]);
    expect(await list({ isWaiting: true, status: "SUCCEEDED" })).toEqual([]);
    expect(await list({ order: "oldest" })).toEqual([done.jobId, held.jobId]);
    expect(await list({ createdAfter: "1970-01-01T00:00:00Z", createdBefore: "9999-12-31T23:59:59Z" })).toHaveLength(2);
    expect(await list({ createdBefore: "2020-01-01T00:00:00Z" })).toEqual([]);
    const { body } = await api.call("ListJobs", { query: { includeTotal: true, pageSize: 1 } });
    expect(body).toMatchObject({ totalCount: 2, jobs: [{ jobId: held.jobId }] });
  });

  test("both orders give the same jobs over all pages", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    for (let index = 0; index < 5; index += 1) await submitAndWait(api, workflowId);
    const pages = async (order: string) => {
      const found: string[] = [];
      let pageToken: string | undefined;
      do {
        const query = { order, pageSize: 2, ...(pageToken !== undefined && { pageToken }) };
        const { body } = await api.call<{ jobs: { jobId: string }[]; nextPageToken?: string }>("ListJobs", { query });
        found.push(...body.jobs.map((job) => job.jobId));
        pageToken = body.nextPageToken;
      } while (pageToken !== undefined);
      return found;
    };
    const newest = await pages("newest");
    expect(newest).toHaveLength(5);
    expect(await pages("oldest")).toEqual(newest.toReversed());
  });

  test("a client that disconnects before its answer leaves one job behind", async () => {
    const { api, organizationId, owner } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    // After this call the service remembers the credential for a second. So it reads the body of the next request without waiting for the store.
    await api.call("GetOrganization");
    await new Promise<void>((resolve) => {
      const request = httpRequest(`${service.baseUrl}/organizations/${organizationId}/jobs`, {
        method: "POST",
        headers: { authorization: `Bearer ${owner.token}`, "content-type": "application/json" },
      });
      request.on("close", resolve).on("error", () => {});
      request.end(JSON.stringify({ workflowId }), () => setTimeout(() => request.destroy(), 20));
    });
    await expect
      .poll(async () => (await api.call<{ jobs: unknown[] }>("ListJobs")).body.jobs.length, { timeout: 5_000 })
      .toBe(1);
  });

  test("a waiting job can be cancelled, cancelled again, and resumed in the same place", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    const params = { jobId };
    expect((await api.call("CancelJob", { params })).body).toMatchObject({ jobId, status: "CANCELLED" });
    expect((await api.call("CancelJob", { params, body: {} })).body).toMatchObject({ status: "CANCELLED" });
    const cancelled = (await api.call<JobBody>("GetJob", { params })).body;
    expect(cancelled.steps.map(({ name, status }) => [name, status])).toEqual([
      ["prepare", "success"],
      ["approve", "successful_but_incomplete"],
    ]);
    await api.refused("SendJobEvent", "ConflictError", { params, body: { eventId: "approved" } });
    expect((await api.call("ResumeJob", { params })).body).toMatchObject({ status: "PENDING" });
    await api.call("SendJobEvent", { params, body: { eventId: "approved" } });
    const { body } = await api.call<JobBody>("GetJob", { params, query: { waitSeconds: 20 } });
    expect(body.status).toBe("SUCCEEDED");
    await api.refused("CancelJob", "ConflictError", { params });
    await api.refused("ResumeJob", "ConflictError", { params });
    await api.refused("CancelJob", "ValidationError", { params, body: { force: true } });
  });

  test("the history contains every transition in order and is read in pages", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, definitionOf(waitStep("w", ["x"], "n"), noopStep("n", null)));
    const { jobId } = await submitAndWait(api, workflowId, { a: 1 });
    const params = { jobId };
    await api.call("SendJobEvent", { params, body: { eventId: "x" } });
    const entries: { sequence: number; type: string }[] = [];
    let query: Record<string, string | number> = { pageSize: 4 };
    for (let more = true; more; ) {
      const { body } = await api.call<{ entries: typeof entries; nextPageToken?: string }>("GetJobHistory", {
        params,
        query,
      });
      entries.push(...body.entries);
      more = body.nextPageToken !== undefined;
      if (body.nextPageToken !== undefined) query = { pageSize: 4, pageToken: body.nextPageToken };
    }
    expect(entries.map((entry) => entry.type)).toEqual([
      "job.submitted",
      "job.started",
      "step.started",
      "step.waiting",
      "event.received",
      "step.succeeded",
      "step.started",
      "step.succeeded",
      "job.succeeded",
    ]);
    expect(entries.map((entry) => entry.sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(entries[7]).toMatchObject({ step: "n", output: { a: 1 } });
  });
});

/*
 * What is rejected, found and shown is decided outside of the statements.
 * The statements themselves are tested on both homes, above and in test/engine.
 */
onOneStore((home) => {
  const service = useService(home);

  test("a version can be chosen by tag, id or number, and the default is $LIVE", async () => {
    const { api } = await service.newOrganization();
    const first = await deploy(api, straightDefinition);
    const { workflowId } = first;
    const second = await registerVersion(api, workflowId, waitingDefinition);
    await api.call("SetWorkflowVersionTag", {
      params: { workflowId, tag: "next" },
      body: { versionId: second.versionId },
    });
    const chosen = async (workflowVersion?: object) => {
      const body = { workflowId, ...(workflowVersion && { workflowVersion }) };
      return (await api.call("SubmitJob", { body })).body.versionNumber;
    };
    expect(await chosen()).toBe(1);
    expect(await chosen({ tag: "$LIVE" })).toBe(1);
    expect(await chosen({ tag: "next" })).toBe(2);
    expect(await chosen({ versionId: second.versionId })).toBe(2);
    expect(await chosen({ versionId: second.versionId.toUpperCase() })).toBe(2);
    expect(await chosen({ versionNumber: 1 })).toBe(1);
  });

  test.each([
    ["no workflowId", {}, "ValidationError"],
    ["a workflowId that is no UUID", { workflowId: "x" }, "ValidationError"],
    ["an unknown workflow", { workflowId: unknownId }, "NotFoundError"],
    ["an empty choice of version", { workflowVersion: {} }, "ValidationError"],
    ["a tag that is a number", { workflowVersion: { tag: 1 } }, "ValidationError"],
    ["an unknown tag", { workflowVersion: { tag: "nope" } }, "NotFoundError"],
    ["an unknown version", { workflowVersion: { versionId: unknownId } }, "NotFoundError"],
    ["an unknown number", { workflowVersion: { versionNumber: 99 } }, "NotFoundError"],
    ["a number below 1", { workflowVersion: { versionNumber: 0 } }, "ValidationError"],
    ["a number too large for any", { workflowVersion: { versionNumber: 4_294_967_296 } }, "ValidationError"],
    ["both tag and versionId", { workflowVersion: { tag: "$LIVE", versionId: unknownId } }, "ValidationError"],
    ["an array as input", { inputJson: [] }, "ValidationError"],
    ["null as input", { inputJson: null }, "ValidationError"],
    ["a string as input", { inputJson: "{}" }, "ValidationError"],
    ["an unknown field", { status: "SUCCEEDED" }, "ValidationError"],
  ])("%s is rejected and no job is created", async (_name, changes, code) => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    const body = Object.keys(changes).length === 0 ? {} : { workflowId, ...changes };
    await api.refused("SubmitJob", code, { body });
    expect((await api.call("ListJobs")).body).toEqual({ jobs: [] });
  });

  test("an input that does not fit is 400 with pointers into the body, and no job is created", async () => {
    const { api } = await service.newOrganization();
    const schema = {
      type: "object",
      properties: { count: { type: "integer" }, sku: { type: "string" } },
      required: ["sku"],
      additionalProperties: false,
    };
    const definition = JSON.stringify({
      ...JSON.parse(definitionOf(noopStep("a", null))),
      definitions: { any: schema },
    });
    const { workflowId } = await deploy(api, definition);
    const body = { workflowId, inputJson: { count: "1", extra: true } };
    const { body: problem } = await api.refused("SubmitJob", "ValidationError", { body });
    const pointers = problem.errors?.map((error) => error.pointer).sort();
    expect(pointers).toEqual(["/inputJson/count", "/inputJson/extra", "/inputJson/sku"]);
    expect((await api.call("ListJobs")).body).toEqual({ jobs: [] });
  });

  test.each([
    ["NUL in a value", '{"a":"\\u0000"}'],
    ["NUL in a key", '{"\\u0000":1}'],
    ["a number past 2^53", '{"a":9007199254740993}'],
    ["1e400", '{"a":1e400}'],
    ["half of a surrogate pair", '{"a":"\\ud800"}'],
    ["__proto__", '{"__proto__":{"a":1}}'],
  ])("%s in the input is 400", async (_name, inputJson) => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    const body = `{"workflowId":"${workflowId}","inputJson":${inputJson}}`;
    await api.refused("SubmitJob", "ValidationError", { body });
    expect((await api.call("ListJobs")).body).toEqual({ jobs: [] });
  });

  test.each(["x", "1", "x".repeat(3_000), "00000000-0000-7000-8000-00000000000g", "%00", unknownId])(
    "the job id %.40s is 404, like an unknown one",
    async (jobId) => {
      const { api } = await service.newOrganization();
      const foreign = await service.newOrganization();
      const { workflowId } = await deploy(foreign.api, straightDefinition);
      const theirs = await submitAndWait(foreign.api, workflowId);
      const expected = await api.refused("GetJob", "NotFoundError", { params: { jobId: theirs.jobId } });
      const reads = [
        "GetJob",
        "GetJobState",
        "GetJobStateMetadata",
        "GetJobHistory",
        "ListJobSteps",
        "ListJobBranches",
        "ListJobEvents",
        "WatchJob",
      ];
      for (const operation of [...reads, "CancelJob", "ResumeJob"]) {
        const { body } = await api.refused(operation, "NotFoundError", { params: { jobId } });
        expect({ ...body, requestId: "" }).toEqual({ ...expected.body, requestId: "" });
      }
    },
  );

  test.each([
    ["an unknown status", { status: "DONE" }],
    ["a status in another case", { status: "succeeded" }],
    [
      "a range that ends before it begins",
      { createdAfter: "2026-01-02T00:00:00Z", createdBefore: "2026-01-01T00:00:00Z" },
    ],
    ["a day that does not exist", { createdAfter: "2026-02-30T00:00:00Z" }],
    ["a time without a zone", { createdAfter: "2026-01-01T00:00:00" }],
    ["the year 0", { createdAfter: "0000-01-01T00:00:00Z" }],
    ["a time that is in the year 10000 in UTC", { createdAfter: "9999-12-31T23:59:59-14:00" }],
    ["a workflow that is no id", { workflowId: "x" }],
    ["an unknown order", { order: "random" }],
    ["a version number below 1", { workflowVersionNumber: 0 }],
    ["an invalid version number", { workflowVersionNumber: "latest" }],
    ["an unknown hierarchy", { jobHierarchy: "CHILDREN" }],
    ["includeTotal that is neither true nor false", { includeTotal: "yes" }],
  ])("%s is 400", async (_name, query) => {
    const { api } = await service.newOrganization();
    await api.refused("ListJobs", "ValidationError", { query });
  });

  test("jobs are found by the name of their workflow and the number of their version, together with all other filters", async () => {
    const { api } = await service.newOrganization();
    const { body: orders } = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "orders" } });
    const { workflowId } = orders;
    const submit = async (versionNumber: number) => {
      const body = { workflowId, workflowVersion: { versionNumber } };
      return (await api.call<{ jobId: string }>("SubmitJob", { body, query: { waitSeconds: 20 } })).body.jobId;
    };
    await registerVersion(api, workflowId, straightDefinition);
    await registerVersion(api, workflowId, waitingDefinition);
    const first = [await submit(1), await submit(1), await submit(1)].toReversed();
    const second = await submit(2);
    const other = await submitAndWait(api, (await deploy(api, straightDefinition)).workflowId);

    const list = async (query: Record<string, string | number | boolean>) => {
      const { body } = await api.call<{ jobs: { jobId: string }[]; nextPageToken?: string }>("ListJobs", { query });
      return { jobIds: body.jobs.map((job) => job.jobId), pageToken: body.nextPageToken };
    };
    const found = async (query: Record<string, string | number | boolean>) => (await list(query)).jobIds;
    const workflowName = "orders";
    expect(await found({ workflowName })).toEqual([second, ...first]);
    expect(await found({ workflowName: "Orders" })).toEqual([]);
    expect(await found({ workflowName, workflowVersionNumber: 1 })).toEqual(first);
    expect(await found({ workflowName, workflowVersionNumber: 2 })).toEqual([second]);
    expect(await found({ workflowName, workflowVersionNumber: 3 })).toEqual([]);
    expect(await found({ workflowVersionNumber: 1 })).toEqual([other.jobId, ...first]);
    expect(await found({ workflowName, status: "RUNNING" })).toEqual([second]);
    expect(await found({ workflowName, workflowVersionNumber: 1, order: "oldest" })).toEqual(first.toReversed());
    expect(await found({ workflowName, workflowId })).toHaveLength(4);
    expect(await found({ workflowName, workflowId: unknownId })).toEqual([]);
    for (const jobHierarchy of ["TOP_LEVEL_ONLY", "ALL"]) {
      expect(await found({ workflowName, jobHierarchy })).toEqual([second, ...first]);
    }

    const filters = { workflowName, workflowVersionNumber: 1, jobHierarchy: "ALL", pageSize: 2 };
    const { jobIds, pageToken } = await list(filters);
    expect(jobIds).toEqual(first.slice(0, 2));
    expect(await list({ ...filters, pageToken: pageToken ?? "" })).toEqual({ jobIds: first.slice(2) });
    const others = { ...filters, workflowVersionNumber: 2, pageToken: pageToken ?? "" };
    await api.refused("ListJobs", "ValidationError", { query: others });
    const { body: counted } = await api.call("ListJobs", { query: { ...filters, includeTotal: true } });
    expect(counted).toMatchObject({ totalCount: 3 });

    await api.call("DeleteWorkflow", { params: { workflowId } });
    const { workflowId: again } = (
      await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: workflowName } })
    ).body;
    await registerVersion(api, again, straightDefinition);
    const { body: newer } = await api.call<{ jobId: string }>("SubmitJob", {
      body: { workflowId: again, workflowVersion: { versionNumber: 1 } },
    });
    expect(await found({ workflowName, workflowVersionNumber: 1 })).toEqual([newer.jobId, ...first]);
  });

  test("a narrow token finds by name only the jobs of the workflows that it is bound to", async () => {
    const { api } = await service.newOrganization();
    const names = ["inside", "outside"] as const;
    const workflows = await Promise.all(
      names.map(async (name) => {
        const { body } = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name } });
        await registerVersion(api, body.workflowId, straightDefinition);
        const submission = { workflowId: body.workflowId, workflowVersion: { versionNumber: 1 } };
        await api.call("SubmitJob", { body: submission });
        return body.workflowId;
      }),
    );
    const { body } = await api.call<{ token: string }>("CreateApiToken", {
      body: { name: "narrow", permissions: ["job:list"], boundTo: { workflowIds: workflows.slice(0, 1) } },
    });
    const counts = await Promise.all(
      names.map(async (workflowName) => {
        const answer = await api.as(body.token).call<{ jobs: unknown[] }>("ListJobs", { query: { workflowName } });
        return answer.body.jobs.length;
      }),
    );
    expect(counts).toEqual([1, 0]);
  });

  test("a job shows the name of the user who submitted it, and for a program only the id of its token", async () => {
    const { api, owner } = await service.newOrganization();
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    const person = { submittedBy: { type: "user", id: owner.userId }, submittedByUser: "A user" };
    const { body } = await api.call("ListJobs");
    expect(body).toMatchObject({ jobs: [{ jobId, ...person }] });
    const key = { params: { jobId }, headers: { "Idempotency-Key": "cancel" } };
    const cancelled = await api.call("CancelJob", key);
    expect(cancelled.body).toMatchObject({ status: "CANCELLED", ...person });
    expect((await api.call("CancelJob", key)).body).toEqual(cancelled.body);

    const { body: program } = await api.call<{ token: string; tokenId: string }>("CreateApiToken", {
      body: { name: "program", permissions: ["job:submit", "job:read"] },
    });
    const theirs = await submitAndWait(api.as(program.token), workflowId);
    expect(theirs).toMatchObject({ submittedBy: { type: "apiToken", id: program.tokenId } });
    expect(JSON.stringify(theirs)).not.toContain("submittedByUser");
  });

  test("a list shows the current point of each job: the awaited events if it waits, the error if it failed", async () => {
    const { api } = await service.newOrganization();
    const waiting = await deploy(api, waitingDefinition);
    const held = await submitAndWait(api, waiting.workflowId);
    const failing = await deploy(api, failingDefinition);
    const failed = await submitAndWait(api, failing.workflowId);
    const { body } = await api.call("ListJobs", { query: { order: "oldest" } });
    expect(body).toMatchObject({
      jobs: [
        { jobId: held.jobId, status: "RUNNING", stepName: "approve", awaitingEventIds: ["approved"] },
        { jobId: failed.jobId, status: "FAILED", error: { code: "InputMismatch", step: "second" } },
      ],
    });
  });

  test("GetJob with waitSeconds answers when the job finishes, or when the time is up", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    const startedAt = performance.now();
    const early = await api.call<JobBody>("GetJob", { params: { jobId }, query: { waitSeconds: 1 } });
    expect(early.body.status).toBe("RUNNING");
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    const late = api.call<JobBody>("GetJob", { params: { jobId }, query: { waitSeconds: 30 } });
    await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } });
    expect((await late).body.status).toBe("SUCCEEDED");
    await api.refused("GetJob", "ValidationError", { params: { jobId }, query: { waitSeconds: 61 } });
  });

  test("the history shows where a choice led, also if that is the end of the job", async () => {
    const { api } = await service.newOrganization();
    const choosing = (otherwise: string | null) =>
      definitionOf(
        { ...noopStep("a", null), transitionToStep: { choose: [{ if: "has(output.b)", then: "b" }], else: otherwise } },
        noopStep("b", null),
      );
    const ways = await Promise.all(
      ["b", null].map(async (otherwise) => {
        const { workflowId } = await deploy(api, choosing(otherwise));
        const { jobId } = await submitAndWait(api, workflowId, { a: 1 });
        const { body } = await api.call<{ entries: { type: string; next?: string | null }[] }>("GetJobHistory", {
          params: { jobId },
        });
        return body.entries.find(({ type }) => type === "step.succeeded")?.next;
      }),
    );
    expect(ways).toEqual(["b", null]);
  });

  inWholeMatrix(() => {
    test("a job with many large values is shown with the latest of them, and its history and its events take more pages", async () => {
      const { api } = await service.newOrganization();
      const chain = Array.from({ length: 12 }, (_, index) =>
        noopStep(`s${index}`, index === 11 ? "w" : `s${index + 1}`),
      );
      const { workflowId } = await deploy(api, definitionOf(...chain, waitStep("w", ["x"], null)));
      const input = { text: "x".repeat(1_000_000) };
      const { jobId } = await submitAndWait(api, workflowId, input);
      const params = { jobId };

      const { body: job } = await api.call<LargeJob>("GetJob", { params });
      expect(job.steps).toHaveLength(13);
      expect(job.steps.at(-1)).toMatchObject({ name: "w", input });
      expect(job.steps.at(-1)).not.toHaveProperty("valuesLeftOut");
      expect(job.steps.at(0)).toMatchObject({ name: "s0", status: "success", input: null, valuesLeftOut: true });
      expect(job.steps.at(0)).not.toHaveProperty("output");

      const entries = await api.call<Page>("GetJobHistory", { params, query: { pageSize: 200 } });
      expect(entries.body.entries?.length).toBeGreaterThan(10);
      expect(entries.body.entries?.length).toBeLessThan(20);
      const pageToken = entries.body.nextPageToken ?? "";
      const more = await api.call<Page>("GetJobHistory", { params, query: { pageSize: 200, pageToken } });
      expect(more.body.entries?.[0]?.sequence).toBe((entries.body.entries?.length ?? 0) + 1);

      for (let number = 1; number <= 18; number += 1) {
        await api.call("SendJobEvent", { params, body: { eventId: `e${number}`, payload: input.text } });
      }
      const events = await api.call<Page>("ListJobEvents", { params, query: { pageSize: 200 } });
      // Sixteen of these payloads, with their quotation marks, are larger than an answer may be.
      expect(events.body.events).toHaveLength(15);
      expect(events.body.nextPageToken).toBeDefined();
    });
  });
});

interface LargeJob {
  readonly steps: readonly { readonly name: string }[];
}

interface Page {
  readonly entries?: readonly { readonly sequence: number }[];
  readonly events?: readonly unknown[];
  readonly nextPageToken?: string;
}
