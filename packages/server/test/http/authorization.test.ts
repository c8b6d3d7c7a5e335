import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { grantablePermissions, type Permission, withImplied } from "../../src/auth/permissions.ts";
import { createToken } from "../../src/auth/token-form.ts";
import { insertMember } from "../../src/store/members.ts";
import { insertApiToken } from "../../src/store/tokens.ts";
import type { CallOptions, Client, ProblemBody } from "../support/client.ts";
import { straightDefinition, waitingDefinition } from "../support/definitions.ts";
import { deploy, submitAndWait } from "../support/flow.ts";
import { type TestOrganization, type TestService, useService } from "../support/service.ts";
import { onEveryStore } from "../support/stores.ts";

/** One organization with one of everything. */
interface World {
  readonly organization: TestOrganization;
  readonly ids: Readonly<
    Record<"organizationId" | "workflowId" | "versionId" | "jobId" | "finishedJobId" | "tokenId" | "tag", string>
  >;
}

interface Row {
  /** A valid call on what is in this world. */
  readonly call: (ids: World["ids"]) => CallOptions;
  /** What a caller who may do it is answered. */
  readonly allowed: number;
  /** Something new to act on, where acting uses it up. */
  readonly fresh?: (world: World) => Promise<Partial<World["ids"]>>;
  /** True where the path or the body names something inside of the organization. */
  readonly names?: "nothing";
}

const names = { name: "n", displayName: "n" };
const unknownId = "00000000-0000-7000-8000-000000000000";

const workflow = ({ workflowId }: World["ids"]) => ({ params: { workflowId } });
const tag = ({ workflowId, tag: name }: World["ids"]) => ({ params: { workflowId, tag: name } });
const job = ({ jobId }: World["ids"]) => ({ params: { jobId } });
const token = ({ tokenId }: World["ids"]) => ({ params: { tokenId } });

async function freshWorkflow({ organization: { api } }: World): Promise<Partial<World["ids"]>> {
  return (await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: randomUUID() } })).body;
}

async function freshTag({ organization: { api }, ids }: World): Promise<Partial<World["ids"]>> {
  const params = { workflowId: ids.workflowId, tag: randomUUID() };
  await api.call("SetWorkflowVersionTag", { params, body: { versionId: ids.versionId } });
  return { tag: params.tag };
}

async function freshToken({ organization: { api } }: World): Promise<Partial<World["ids"]>> {
  const body = { name: "t", permissions: ["job:read"] };
  return (await api.call<{ tokenId: string }>("CreateApiToken", { body })).body;
}

async function freshCancelledJob({ organization: { api }, ids }: World): Promise<Partial<World["ids"]>> {
  const { jobId } = await submitAndWait(api, ids.workflowId);
  await api.call("CancelJob", { params: { jobId } });
  return { jobId };
}

/** A row for each operation of the document. One without a row fails the test of completeness. */
const rows: Readonly<Record<string, Row>> = {
  CreateOrganization: { call: () => ({ body: names }), allowed: 201, names: "nothing" },
  ListOrganizations: { call: () => ({}), allowed: 200, names: "nothing" },
  GetOrganization: { call: () => ({}), allowed: 200, names: "nothing" },
  UpdateOrganization: { call: () => ({ body: names }), allowed: 200, names: "nothing" },
  // The world has a job that waits, so it cannot be deleted.
  DeleteOrganization: { call: () => ({}), allowed: 409, names: "nothing" },
  RegisterWorkflow: { call: () => ({ body: { name: randomUUID() } }), allowed: 201, names: "nothing" },
  ListWorkflows: { call: () => ({}), allowed: 200, names: "nothing" },
  GetWorkflow: { call: workflow, allowed: 200 },
  DeleteWorkflow: { call: workflow, allowed: 204, fresh: freshWorkflow },
  RegisterWorkflowVersion: {
    call: (ids) => ({ ...workflow(ids), body: { definition: straightDefinition } }),
    allowed: 201,
  },
  ValidateWorkflowVersion: {
    call: (ids) => ({ ...workflow(ids), body: { definition: straightDefinition } }),
    allowed: 200,
  },
  ListWorkflowVersions: { call: workflow, allowed: 200 },
  GetWorkflowVersion: { call: ({ workflowId, versionId }) => ({ params: { workflowId, versionId } }), allowed: 200 },
  SetWorkflowVersionTag: { call: (ids) => ({ ...tag(ids), body: { versionId: ids.versionId } }), allowed: 200 },
  GetTaggedWorkflowVersion: { call: tag, allowed: 200 },
  ListTags: { call: workflow, allowed: 200 },
  DeleteTag: { call: tag, allowed: 204, fresh: freshTag },
  ListTagHistory: { call: tag, allowed: 200 },
  SubmitJob: { call: ({ workflowId }) => ({ body: { workflowId } }), allowed: 201 },
  GetJob: { call: job, allowed: 200 },
  ListJobs: { call: () => ({}), allowed: 200, names: "nothing" },
  GetJobHistory: { call: job, allowed: 200 },
  WatchJob: { call: ({ finishedJobId }) => ({ params: { jobId: finishedJobId } }), allowed: 200 },
  SendJobEvent: { call: (ids) => ({ ...job(ids), body: { eventId: "other" } }), allowed: 200 },
  ListJobEvents: { call: job, allowed: 200 },
  CancelJob: { call: job, allowed: 200, fresh: freshCancelledJob },
  ResumeJob: { call: job, allowed: 200, fresh: freshCancelledJob },
  GetMetrics: { call: () => ({ query: { metric: "jobs_running" } }), allowed: 200, names: "nothing" },
  CreateApiToken: {
    call: () => ({ body: { name: "t", permissions: ["apitoken:create"] } }),
    allowed: 201,
    names: "nothing",
  },
  GetRateLimits: { call: () => ({}), allowed: 200, names: "nothing" },
  ListApiTokens: { call: () => ({}), allowed: 200, names: "nothing" },
  GetApiToken: { call: token, allowed: 200 },
  UpdateApiToken: { call: (ids) => ({ ...token(ids), body: { name: "u" } }), allowed: 200 },
  RevokeApiToken: { call: token, allowed: 204, fresh: freshToken },
};

/** Operations that everybody may call. */
const publicOperations = ["GetOpenApiDocument", "GetLiveness", "GetReadiness"];

async function buildWorld(service: TestService): Promise<World> {
  const organization = await service.newOrganization();
  const { api, organizationId } = organization;
  const { workflowId, versionId } = await deploy(api, waitingDefinition);
  const finished = await deploy(api, straightDefinition);
  const { jobId } = await submitAndWait(api, workflowId);
  const { jobId: finishedJobId } = await submitAndWait(api, finished.workflowId);
  const { body } = await api.call<{ tokenId: string }>("CreateApiToken", {
    body: { name: "t", permissions: ["job:read"] },
  });
  return {
    organization,
    ids: { organizationId, workflowId, versionId, jobId, finishedJobId, tokenId: body.tokenId, tag: "$LIVE" },
  };
}

onEveryStore((home) => {
  const service = useService(home);
  let own: World;
  let foreign: World;
  /** What each caller may do in the own organization; undefined: the caller is nobody. */
  const callers = new Map<string, { token: string | undefined; may: ReadonlySet<Permission> | undefined }>();

  /** Straight into the store: expired ones cannot be made through the interface. */
  async function tokenThatExpired(): Promise<string> {
    const { engine, database } = service.running;
    const { organizationId } = own.ids;
    const { token: text, tokenHash, tokenPrefix } = createToken("organization", organizationId);
    const at = engine.now() - 10_000;
    const createdBy = { type: "service", id: "test" } as const;
    const tokenId = engine.newId();
    const row = { organizationId, tokenId, name: "t", permissions: grantablePermissions, tokenPrefix, createdBy };
    await insertApiToken(
      database,
      { ...row, createdAt: at, updatedAt: at, expiresAt: at + 1, lastUsedAt: null },
      tokenHash,
    );
    return text;
  }

  async function tokenWith(permissions: readonly Permission[]): Promise<{ token: string; tokenId: string }> {
    const body = { name: "t", permissions };
    return (await own.organization.api.call<{ token: string; tokenId: string }>("CreateApiToken", { body })).body;
  }

  async function removedMember(): Promise<string> {
    const { engine, database } = service.running;
    const { userId, token: text } = await service.newUser();
    const { organizationId } = own.ids;
    await database.transaction((transaction) =>
      insertMember(transaction, { organizationId, userId, roles: ["owner"], createdAt: engine.now() }),
    );
    const remove = "DELETE FROM member WHERE organization_id = $1 AND user_id = $2";
    const statement = { name: "remove_member", scope: "organization", planned: "each-time", text: remove } as const;
    await database.query(statement, [organizationId, userId]);
    return text;
  }

  beforeAll(async () => {
    own = await buildWorld(service);
    foreign = await buildWorld(service);
    callers.set("nobody", { token: undefined, may: undefined });
    callers.set("an expired token", { token: await tokenThatExpired(), may: undefined });
    const revoked = await tokenWith(grantablePermissions);
    await own.organization.api.call("RevokeApiToken", { params: { tokenId: revoked.tokenId } });
    callers.set("a revoked token", { token: revoked.token, may: undefined });
    for (const permission of grantablePermissions) {
      const { token: text } = await tokenWith([permission]);
      callers.set(`a token with ${permission} only`, { token: text, may: withImplied([permission]) });
      const others = grantablePermissions.filter((other) => !withImplied([other]).has(permission));
      const { token: rest } = await tokenWith(others);
      callers.set(`a token with all but ${permission}`, { token: rest, may: withImplied(others) });
    }
    const ofUser = new Set<Permission>(["organization:create", ...grantablePermissions]);
    callers.set("the owner", { token: own.organization.owner.token, may: ofUser });
  }, 60_000);

  test("every operation of the document has its row, and every row its operation", async () => {
    const { operations } = await own.organization.api.document();
    const all = operations.map(({ operationId }) => operationId).sort();
    expect([...Object.keys(rows), ...publicOperations].sort()).toEqual(all);
    for (const { operationId, permission } of operations) {
      expect(permission === "none", operationId).toBe(publicOperations.includes(operationId));
    }
  });

  test.each(Object.entries(rows))("%s is for those who may, and for nobody else", async (operationId, row) => {
    const { permission, path } = (await own.organization.api.document()).operation(operationId);
    const isInOrganization = path.includes("{organizationId}");
    for (const [who, { token: text, may }] of callers) {
      const client = own.organization.api.as(text);
      const cell = `${who} calls ${operationId}`;
      const isAllowed = may?.has(permission as Permission) ?? false;
      const ids = isAllowed && row.fresh ? { ...own.ids, ...(await row.fresh(own)) } : own.ids;
      const here = await attempt(client, operationId, row.call(ids));
      if (may === undefined) {
        expect(here.status, cell).toBe(401);
      } else if (isAllowed) {
        expect(here.status, cell).toBe(row.allowed);
      } else {
        expect(here.status, cell).toBe(403);
        expect(here.body.detail, cell).toContain(permission);
      }
      if (!isInOrganization) continue;

      const there = {
        ...row.call(foreign.ids),
        params: { ...row.call(foreign.ids).params, organizationId: foreign.ids.organizationId },
      };
      const nowhere = { ...there, params: { ...there.params, organizationId: unknownId } };
      await expectSame(client, operationId, there, nowhere, may === undefined ? 401 : 404, `${cell} elsewhere`);
      if (row.names === "nothing") continue;

      const unknown = Object.fromEntries(Object.keys(own.ids).map((name) => [name, unknownId])) as World["ids"];
      const unknownIds = { ...unknown, tag: "$LIVE" };
      const status = may === undefined ? 401 : isAllowed ? 404 : 403;
      await expectSame(
        client,
        operationId,
        row.call(foreign.ids),
        row.call(unknownIds),
        status,
        `${cell} on what is another's`,
      );
    }
  });

  test.each(Object.entries(rows))(
    "%s is not for another organization's owner, or a member who was removed",
    async (operationId, row) => {
      const { path } = (await own.organization.api.document()).operation(operationId);
      if (!path.includes("{organizationId}")) return;
      for (const text of [foreign.organization.owner.token, await removedMember()]) {
        const client = own.organization.api.as(text);
        const nowhere = { ...row.call(own.ids), params: { ...row.call(own.ids).params, organizationId: unknownId } };
        await expectSame(client, operationId, row.call(own.ids), nowhere, 404, operationId);
      }
    },
  );

  test("ids in a body are looked for in the own organization only", async () => {
    const { api } = own.organization;
    const { workflowId } = own.ids;
    const foreignVersion = { workflowId, workflowVersion: { versionId: foreign.ids.versionId } };
    await api.refused("SubmitJob", "NotFoundError", { body: foreignVersion });
    await api.refused("SetWorkflowVersionTag", "NotFoundError", {
      params: { workflowId, tag: "x" },
      body: { versionId: foreign.ids.versionId },
    });
    const filtered = await api.call("ListJobs", { query: { workflowId: foreign.ids.workflowId, includeTotal: true } });
    expect(filtered.body).toEqual({ jobs: [], totalCount: 0 });
  });

  test("reads and changes that two organizations ask for at one instant share statements, but nothing else", async () => {
    const { engine } = service.running;
    const theirs = { organizationId: foreign.ids.organizationId, jobId: foreign.ids.jobId };
    const reach = { organizationId: own.ids.organizationId, jobId: foreign.ids.jobId };
    const [found, reached] = await Promise.all([engine.readJob(theirs), engine.readJob(reach)]);
    expect([found?.job.jobId, reached]).toEqual([theirs.jobId, undefined]);

    const body = { eventId: "at once" };
    const calls = Array.from({ length: 20 }, (_, index) => {
      const { api } = index % 2 === 0 ? own.organization : foreign.organization;
      return api.callAny("SendJobEvent", { params: { jobId: theirs.jobId }, body });
    });
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses).toEqual(calls.map((_, index) => (index % 2 === 0 ? 404 : 200)));
  });

  test("an id in capitals is the same id", async () => {
    const { api } = own.organization;
    const { organizationId, jobId } = own.ids;
    const params = { organizationId: organizationId.toUpperCase(), jobId: jobId.toUpperCase() };
    const { token: text } = await tokenWith(["job:read"]);
    expect((await api.as(text).call("GetJob", { params })).body.jobId).toBe(jobId);
  });

  test("what may not be done is said before what is wrong with the body", async () => {
    const { token: text } = await tokenWith(["job:read"]);
    await own.organization.api.as(text).refused("SubmitJob", "AuthorizationError", { body: "{" });
    await own.organization.api.as(undefined).refused("SubmitJob", "AuthenticationError", { body: "{" });
  });
});

async function attempt(
  client: Client,
  operationId: string,
  options: CallOptions,
): Promise<{ status: number; body: ProblemBody }> {
  return await client.callAny<ProblemBody>(operationId, options);
}

/** Both are refused with this status, and nobody can tell the answers apart. */
async function expectSame(
  client: Client,
  operationId: string,
  first: CallOptions,
  second: CallOptions,
  status: number,
  cell: string,
): Promise<void> {
  const [one, other] = [await attempt(client, operationId, first), await attempt(client, operationId, second)];
  expect([one.status, other.status], cell).toEqual([status, status]);
  expect({ ...one.body, requestId: "" }, cell).toEqual({ ...other.body, requestId: "" });
}
