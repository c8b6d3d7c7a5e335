import type { Client } from "@stepwell/testing/client.ts";
import type { JobBody } from "@stepwell/testing/flow.ts";
import { type FunctionCall, FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import { writeProviderFile } from "@stepwell/testing/identities/provider-file.ts";
import { scope } from "@stepwell/testing/scope.ts";
import { TestService } from "@stepwell/testing/service.ts";
import { signIn } from "@stepwell/testing/sign-in.ts";
import { onOneStore, type StoreHome } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { streamTypes } from "../../engine/reading/job-stream.ts";
import { metricsOfHistory } from "../operations/history-metrics.ts";
import { type AskedAnswer, type EarlierStore, readAll, readEarlierStore } from "./fixture.ts";
import { AcmeProvider } from "./identity-provider.ts";
import { layingEarlierStore } from "./lay.ts";
import { chainLength, costlyDefinition, documentOf, functionAnswers } from "./workflows.ts";

/** The expected end of a job. Before that, the test resumes the job if `resume` is set, and sends it these events. */
interface End {
  readonly resume?: true;
  readonly events?: readonly { readonly eventId: string; readonly payload?: unknown }[];
  readonly output: unknown;
  /** The number of attempts of each step run, in the order in which the runs began. */
  readonly attempts: readonly number[];
}

interface WholeJob extends JobBody {
  readonly steps: readonly (JobBody["steps"][number] & { readonly attempts: number })[];
}

interface Entry {
  readonly sequence: number;
  readonly type: string;
}

interface Metric {
  readonly points: readonly { readonly value: number | null }[];
  readonly incompleteBefore?: string;
}

/**
 * One store for each change of the form in which jobs are stored: large values got rows of their own after schema 8, and calls after 17. Branches
 * and tasks came after 20.
 */
const stores = [readEarlierStore(8), readEarlierStore(17), readEarlierStore(20)];
const paid = { eventId: "paid" };
const approved = { eventId: "approved", payload: { decision: "yes" } };
const shippedOf = (orderId: string, more: object = { decision: "yes" }, notesLength = 0) => ({
  shipped: { orderId, document: documentOf(orderId), ...more },
  notesLength,
});
const chain = { attempts: Array<number>(chainLength).fill(1) };

const ends: Readonly<Record<string, End>> = {
  waiting: { events: [paid, approved], output: shippedOf("order-3"), attempts: [1, 1, 1] },
  waitingWithEvents: {
    events: [paid],
    output: shippedOf("order-4", { decision: "no", comment: "Bad. ".repeat(1_000) }, 2_500),
    attempts: [1, 1, 1],
  },
  huge: { events: [approved], output: shippedOf("order-5", { decision: "yes" }, 1_275_000), attempts: [1, 1, 1] },
  resumedAndWaiting: { events: [paid, approved], output: shippedOf("order-6"), attempts: [1, 2, 1] },
  cancelled: { resume: true, events: [approved], output: shippedOf("order-2"), attempts: [1, 2, 1] },
  failed: { resume: true, output: shippedOf("fragile-failed", { decision: "perhaps" }), attempts: [1, 1, 2] },
  resumedLater: { output: shippedOf("fragile-resumedLater", { decision: "perhaps" }), attempts: [1, 1, 2] },
  unlucky: { events: [paid, approved], output: shippedOf("order-7"), attempts: [2, 1, 1] },
  calling: { events: [paid, approved], output: shippedOf("calling", undefined, 2_500), attempts: [2, 1, 1] },
  callingWithEvents: {
    output: shippedOf("callingWithEvents", { decision: "early", comment: "Soon. ".repeat(1_000) }, 2_500),
    attempts: [2, 1, 1],
  },
  queued: { events: [paid, approved], output: shippedOf("queued"), attempts: [1, 1, 1] },
  pending: { events: [approved], output: shippedOf("pending"), attempts: [1, 1, 1] },
  rounds: {
    events: [{ eventId: "go", payload: { round: 2 } }],
    output: { counted: 2, round: 3 },
    attempts: Array<number>(9).fill(1),
  },
  one: { events: [{ eventId: "c" }, { eventId: "x" }], output: {}, attempts: [1, 1, 1] },
  two: { events: [{ eventId: "x" }], output: {}, attempts: [1, 1, 1] },
  costly: {
    events: [{ eventId: "code", payload: { code0: "abc" } }],
    output: { kind: "costly", code0: "abc" },
    attempts: [1, 1],
  },
  patient: { events: [{ eventId: "signed" }], output: {}, attempts: [1, 1] },
  hasty: { output: { left: "alone" }, attempts: [1, 1] },
  reviewing: {
    events: [{ eventId: "reviewed", payload: { again: false, by: "Ben" } }],
    output: { notes: "r".repeat(3_000), by: "Ben", hasPaused: false },
    attempts: [1, 1],
  },
  pausing: {
    events: [{ eventId: "reviewed", payload: { again: false, by: "Cy" } }],
    output: { notes: "r".repeat(3_000), by: "Cy", hasPaused: true },
    attempts: [1, 1, 1, 1],
  },
};

/** Returns the expected ends of the jobs of that store that can still continue, some of them after a resume. */
function endsIn(store: EarlierStore): [string, End][] {
  const next: End = { ...chain, output: expect.objectContaining({ attempt: expect.any(Number) }) };
  return Object.keys(store.jobIds).flatMap((name): [string, End][] => {
    const end = name.startsWith("next") ? next : ends[name];
    if (end === undefined) return [];
    return [[name, name === "queued" ? { ...end, attempts: [attemptOfQueued(store), 1, 1] } : end]];
  });
}

/** The builds with schema 8 or an earlier one did not record which calls had begun, so a waiting call counts as interrupted. */
function attemptOfQueued({ schema }: EarlierStore): number {
  return schema <= 8 ? 2 : 1;
}

/** These jobs change only when somebody acts, so the service must describe them as the earlier build did. */
const atRest = [
  ...["succeeded", "short", "longChain", "failed", "cancelled"],
  ...["waiting", "waitingWithEvents", "huge", "resumedAndWaiting", "rounds", "one", "two", "costly", "reviewing"],
];

/* Each test continues where the one before it ended, on one store: first the stored data is read, then the jobs are brought to their ends. */
onOneStore((home) => describe.each(opened())("written at schema $schema", (store) => testStore(home, store)));

/** The whole matrix opens each earlier store in both homes. `npm test` opens the oldest one on PostgreSQL, so that all migrations run. */
function opened(): readonly EarlierStore[] {
  if (scope === "all") return stores;
  const oldest = Math.min(...stores.map(({ schema }) => schema));
  return stores.filter(({ schema }) => schema === oldest);
}

function testStore(home: StoreHome, store: EarlierStore): void {
  let functions: FunctionServer;
  let provider: AcmeProvider;
  let service: TestService;
  let api: Client;
  beforeAll(async () => {
    functions = await FunctionServer.start(functionAnswers(prepareAnyway));
    provider = await AcmeProvider.start();
    service = new TestService(layingEarlierStore(home, store, provider.issuer), {
      ...functions.environment,
      STEPWELL_SIGN_IN_PROVIDERS_FILE: writeProviderFile([provider.entryFor(store.organizationId)]),
      STEPWELL_SECRET_KEY: store.secretKey,
      STEPWELL_MAX_BODY_BYTES: String(4 * 1024 * 1024),
      STEPWELL_HEARTBEAT_MS: "200",
      STEPWELL_LEASE_MS: "2000",
    });
    await service.start();
    api = service.client(store.owner.token, { organizationId: store.organizationId });
  });
  afterAll(async () => {
    await service.stop();
    await Promise.all([functions.stop(), provider.stop()]);
  });

  const idOf = (name: string) => ({ jobId: store.jobIds[name] ?? "" });

  async function jobOf(name: string): Promise<WholeJob> {
    return (await api.call<WholeJob>("GetJob", { params: idOf(name), query: { waitSeconds: 20 } })).body;
  }

  async function expectAsBefore({ operation, options, body }: AskedAnswer): Promise<void> {
    const { sentence: _, ...before } = body as Record<string, unknown>;
    const expected = operation === "ListRoles" ? { roles: rolesWithMore(before.roles) } : before;
    expect(await readAll(api, operation, options)).toMatchObject(expected);
  }

  /** Later builds may add permissions to a built-in role, and describe it in other words. */
  function rolesWithMore(roles: unknown): object[] {
    const known = roles as { readonly permissions: readonly string[]; readonly isBuiltIn: boolean }[];
    return known.map((role) => ({
      ...role,
      permissions: expect.arrayContaining([...role.permissions]),
      ...(role.isBuiltIn && { description: expect.any(String) }),
    }));
  }

  test.each(atRest.filter((name) => name in store.jobIds))(
    "the job %s, which changes only when somebody acts, is shown as by the earlier build",
    async (name) => {
      const answers = answersAbout(name);
      expect(answers.map(({ operation }) => operation)).toContain("GetJob");
      for (const { operation, options, body } of answers) {
        await expectAsBefore({ operation, options, body });
        if (operation !== "GetJob") continue;
        const { steps } = body as WholeJob;
        const listed = { ...options, query: { pageSize: 200 } };
        await expectAsBefore({ operation: "ListJobSteps", options: listed, body: { steps } });
      }
    },
  );

  test.each(store.answers.map((answer) => [answer.operation, answer] as const))(
    "%s answers as under the earlier build",
    async (_operation, answer) => expectAsBefore(answer),
  );

  test("the store has a job in every possible phase", () => {
    const stands = [
      "calling",
      "queued",
      "unlucky",
      "waiting",
      "next0",
      "pending",
      "failed",
      "cancelled",
      "resumedLater",
    ];
    expect(endsIn(store).map(([name]) => name)).toEqual(expect.arrayContaining(stands));
  });

  test.each(endsIn(store))("the job %s, which was running, continues and ends", async (name, end) => {
    const params = idOf(name);
    if (end.resume) await api.call("ResumeJob", { params });
    for (const event of end.events ?? []) await api.call("SendJobEvent", { params, body: event });
    const job = await jobOf(name);
    expect(job).toMatchObject({ status: "SUCCEEDED", output: end.output });
    expect(job.steps.map(({ attempts }) => attempts)).toEqual(end.attempts);

    const { steps } = (await readAll(api, "ListJobSteps", { params, query: { pageSize: 200 } })) as WholeJob;
    expect(steps).toEqual(job.steps);
    const { entries } = (await readAll(api, "GetJobHistory", { params })) as { entries: Entry[] };
    expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
    const before = answersAbout(name).find(({ operation }) => operation === "GetJobHistory");
    const { entries: earlier } = (before?.body ?? { entries: [] }) as { entries: Entry[] };
    expect(entries.slice(0, earlier.length)).toMatchObject(earlier);
    const streamed: string[] = [];
    for await (const type of streamTypes(service, store, params.jobId)) streamed.push(type);
    expect(streamed).toEqual(entries.map(({ type }) => type));
    const explained = await api.call<{ state: string }>("ExplainJob", { params });
    expect(explained.body.state).toBe("succeeded");
  });

  test("calls of the lost node are made again, under their former keys", async () => {
    for (const name of ["calling", "callingWithEvents", "queued"]) {
      const { jobId } = idOf(name);
      const [prepare, ...others] = functions.callsOf(jobId);
      const attempt = name === "queued" ? attemptOfQueued(store) : 2;
      expect(prepare).toMatchObject({ attempt, idempotencyKey: `${jobId}:prepare:1` });
      expect(others.map(({ functionName }) => functionName)).toEqual(["ship"]);
    }
  });

  test("a large input, and the parts that later steps took from it, are complete", async () => {
    const notes = "A large input. ".repeat(85_000);
    const job = await jobOf("huge");
    expect(job).toMatchObject({ input: { notes }, steps: [{ input: { notes } }, {}, { input: { notes } }] });
    const [ship] = functions.callsOf(job.jobId);
    expect(ship?.input).toEqual({ orderId: "order-5", document: documentOf("order-5"), notes, decision: "yes" });
  });

  if ("costly" in store.jobIds) {
    test("a version that would be rejected today continues to run, and its event payloads are still checked", async () => {
      const params = { workflowId: store.workflowIds.costly ?? "" };
      const today = await api.call("ValidateWorkflowVersion", { params, body: { definition: costlyDefinition } });
      expect(today.body.valid).toBe(false);
      const submitted = await api.call<JobBody>("SubmitJob", { query: { waitSeconds: 20 }, body: { ...params } });
      const job = { jobId: submitted.body.jobId };
      const misfit = { eventId: "code", payload: { code0: "1" } };
      await api.refused("SendJobEvent", "ValidationError", { params: job, body: misfit });
      await api.call("SendJobEvent", { params: job, body: { ...misfit, payload: { code0: "a" } } });
      const ended = await api.call<JobBody>("GetJob", { params: job, query: { waitSeconds: 20 } });
      expect(ended.body).toMatchObject({ status: "SUCCEEDED", output: { code0: "a" } });
    });
  }

  test("a write that is repeated under its key, or by a generated client, gets the earlier build's answer", async () => {
    expect(store.keyedAnswers.length).toBeGreaterThan(30);
    for (const { operation, options, body, status } of store.keyedAnswers) {
      const again = await api.call(operation, { ...options, status });
      expect(again.headers.get("idempotency-replayed")).toBe("true");
      expect(again.body).toMatchObject(body as object);
    }
  });

  test("tags still name their versions", async () => {
    const workflowId = store.workflowIds.order ?? "";
    const submit = async (tag: string) =>
      (await api.call("SubmitJob", { body: { workflowId, workflowVersion: { tag }, inputJson: { orderId: tag } } }))
        .body;
    expect(await submit("first")).toMatchObject({ versionNumber: 1 });
    expect(await submit("$LIVE")).toMatchObject({ versionNumber: 2 });
  });

  test("users sign in with their passwords, and their roles still permit the same", async () => {
    for (const person of [store.owner, store.member]) {
      const { idToken } = await signIn(service.baseUrl, person);
      const signedIn = await api.as(idToken).call("WhoAmI");
      expect(signedIn.body).toMatchObject({ id: person.userId, email: person.email });
    }
    const member = api.as(store.member.token);
    const { body } = await member.call<{ permissions: string[] }>("GetOwnPermissions");
    expect(body.permissions).toEqual(expect.arrayContaining(["job:event:send", "job:list", "job:read"]));
    await member.refused("CancelJob", "AuthorizationError", { params: idOf("succeeded") });
  });

  test("a user of the identity provider still has their account, and the role that the provider gives by its former name", async () => {
    const outsider = api.as(await provider.bearerToken());
    expect((await outsider.call("WhoAmI")).body).toMatchObject({ id: store.outsiderId });
    const { body } = await outsider.call<{ roles: string[] }>("GetOwnPermissions");
    expect(body.roles).toEqual(["approver"]);
  });

  test("API tokens still have their permissions, each in its own organization", async () => {
    const { whole, narrow, oneEvent, revoked, other } = store.apiTokens;
    const list = async (token: string) =>
      (await api.as(token).call<{ jobs: { jobId: string }[] }>("ListJobs", { query: { pageSize: 200 } })).body.jobs;
    expect((await list(whole)).length).toBeGreaterThan(20);
    expect(await list(narrow)).toMatchObject([idOf("rounds")]);
    await api.as(revoked).refused("ListJobs", "AuthenticationError");
    const event = { params: idOf("waiting"), body: { eventId: "paid" } };
    await api.as(oneEvent).refused("SendJobEvent", "AuthorizationError", event);
    await api.as(oneEvent).refused("SendJobEvent", "ConflictError", { ...event, body: approved });
    await api.as(other).refused("GetJob", "NotFoundError", { params: idOf("waiting") });
    const there = api.as(other).bind({ organizationId: store.otherOrganizationId });
    await there.call("SendJobEvent", { params: idOf("other"), body: { eventId: "signed" } });
    const ended = await there.call("GetJob", { params: idOf("other"), query: { waitSeconds: 20 } });
    expect(ended.body).toMatchObject({ status: "SUCCEEDED" });
  });

  test("the earlier build's history is counted in the metrics, only once", async () => {
    const counted = async () => (await measured("jobs_submitted")).isWhole;
    await expect.poll(counted, { timeout: 20_000 }).toBe(true);
    const { database } = service.running;
    const { job_duration_seconds, step_duration_seconds, ...counts } = await metricsOfHistory(
      database,
      store.organizationId,
      null,
    );
    // If the earlier build began a step and this one ended it, a duty counts the step a little later.
    for (const [metric, count] of Object.entries(counts)) {
      const sum = async () => (await measured(metric)).values.reduce((before, value) => before + value, 0);
      await expect.poll(sum, { timeout: 20_000, message: metric }).toBe(count);
    }
    for (const [metric, { max }] of Object.entries({ job_duration_seconds, step_duration_seconds })) {
      const { values } = await measured(metric, { aggregation: "max" });
      expect([metric, Math.max(...values)]).toEqual([metric, max]);
    }
  });

  test("the audit trail can be verified under the key that sealed it", async () => {
    const { body } = await api.call<{ findings: unknown[]; newestSeal?: unknown }>("VerifyAudit");
    expect(body.findings).toEqual([]);
    expect(body.newestSeal).toBeDefined();
  });

  /**
   * Returns the values of the day on which the store was written and of the days on which this test runs. If both are the same day, its values are
   * returned once.
   */
  async function measured(metric: string, more: object = {}): Promise<{ values: number[]; isWhole: boolean }> {
    const day = 86_400_000;
    const written = Math.floor(Date.parse(store.writtenAt) / day) * day;
    const now = service.running.engine.now();
    const begin = Math.max(written + day, now - day);
    const ranges = [[written, written + day], ...(begin < now ? [[begin, now]] : [])];
    const answers = ranges.map(async ([from = 0, to = 0]) => {
      const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
      return (await api.call<Metric>("GetMetrics", { query: { metric, bucket: "day", ...range, ...more } })).body;
    });
    const found = await Promise.all(answers);
    return {
      values: found.flatMap(({ points }) => points.flatMap(({ value }) => value ?? [])),
      isWhole: found.every(({ incompleteBefore }) => incompleteBefore === undefined),
    };
  }

  function answersAbout(job: string): readonly AskedAnswer[] {
    return store.jobAnswers[job] ?? [];
  }
}

function prepareAnyway(call: FunctionCall): void {
  const { orderId } = call.input as { orderId: string };
  call.succeed({ orderId, document: documentOf(orderId) });
}
