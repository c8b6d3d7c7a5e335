import { beforeAll, expect, test } from "vitest";
import {
  builtInRoles,
  grantablePermissions,
  type Permission,
  permissionsOfRoles,
  signedInPermissions,
  withImplied,
} from "../../src/auth/permissions.ts";
import type { CallOptions, Client, ProblemBody } from "../support/client.ts";
import { useService } from "../support/service.ts";
import { storeToken } from "../support/stored-token.ts";
import { onEveryStore } from "../support/stores.ts";
import { buildWorld, type MatrixCaller, publicOperations, rows, unknownId, type World } from "./authorization-rows.ts";

onEveryStore((home) => {
  const service = useService(home);
  let own: World;
  let foreign: World;
  const callers = new Map<string, MatrixCaller>();

  async function tokenThatExpired(): Promise<string> {
    const at = service.running.engine.now() - 10_000;
    const values = { permissions: grantablePermissions, createdAt: at, updatedAt: at, expiresAt: at + 1 };
    return (await storeToken(service, own.ids.organizationId, values)).token;
  }

  async function tokenWith(permissions: readonly Permission[]): Promise<{ token: string; tokenId: string }> {
    const body = { name: "t", permissions };
    return (await own.organization.api.call<{ token: string; tokenId: string }>("CreateApiToken", { body })).body;
  }

  async function removedMember(): Promise<string> {
    const { userId, token: text } = await service.newMember(own.organization, ["owner"]);
    await own.organization.api.call("RemoveMember", { params: { userId } });
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
    const { owner, api } = own.organization;
    const everything = { may: new Set(grantablePermissions), mayOutside: signedInPermissions };
    callers.set("the owner", { token: owner.token, userId: owner.userId, roles: ["owner"], ...everything });
    const ownRole = ["role:read", "member:read", "job:submit"];
    await api.call("CreateRole", { body: { name: "of-its-own", permissions: ownRole } });
    const memberRoles = [...builtInRoles.keys()].filter((role) => role !== "owner").map((role) => [role]);
    for (const roles of [...memberRoles, ["of-its-own"], ["ci", "of-its-own"], ["viewer", "operator"]]) {
      const { userId, token: text } = await service.newMember(own.organization, roles);
      const may = permissionsOfRoles(roles, roles.includes("of-its-own") ? ownRole : []);
      const caller = { token: text, userId, roles, may, mayOutside: signedInPermissions };
      callers.set(`a member with ${roles.join(" and ")}`, caller);
    }
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
    for (const [who, caller] of callers) {
      const client = own.organization.api.as(caller.token);
      const cell = `${who} calls ${operationId}`;
      const may = isInOrganization ? caller.may : (caller.mayOutside ?? caller.may);
      const isAllowed = may !== undefined && (permission === "any" || may.has(permission as Permission));
      const ids = isAllowed && row.fresh ? { ...own.ids, ...(await row.fresh(own, service)) } : own.ids;
      const here = await attempt(client, operationId, row.call(ids));
      if (may === undefined) {
        expect(here.status, cell).toBe(401);
      } else if (isAllowed) {
        expect(here.status, cell).toBe(typeof row.allowed === "number" ? row.allowed : row.allowed(caller));
        if (here.status < 300) await row.restore?.(own, service, caller);
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
