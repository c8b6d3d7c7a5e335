import type { Answer, CallOptions, ProblemBody } from "@stepwell/testing/client.ts";
import { useService } from "@stepwell/testing/service.ts";
import { storeToken } from "@stepwell/testing/stored-token.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { beforeAll, expect, test } from "vitest";
import {
  builtInRoles,
  grantablePermissions,
  type Permission,
  permissionsOfRoles,
  signedInPermissions,
  withImplied,
} from "../../src/auth/permissions/permissions.ts";
import { buildWorld, type MatrixCaller, publicOperations, rows, unknownId, type World } from "./authorization-rows.ts";

onOneStore((home) => {
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

  test.each(inOrder)("%s is for those who may, and for nobody else", async (operationId, row) => {
    const { permission, path } = (await own.organization.api.document()).operation(operationId);
    const isInOrganization = path.includes("{organizationId}");
    const there = { ...row.call(foreign.ids), params: { ...row.call(foreign.ids).params, ...organizationOf(foreign) } };
    const nowhere = { ...there, params: { ...there.params, organizationId: unknownId } };
    const unknownIds = Object.fromEntries(Object.keys(own.ids).map((name) => [name, unknownId])) as World["ids"];
    const unknown = row.call({ ...unknownIds, tag: "$LIVE" });
    const answers = new SameAnswers();

    await atOnce([...callers], async ([who, caller]) => {
      const client = own.organization.api.as(caller.token);
      const ask = (options: CallOptions) => client.callAny<ProblemBody>(operationId, options);
      const cell = `${who} calls ${operationId}`;
      const may = isInOrganization ? caller.may : (caller.mayOutside ?? caller.may);
      const isAllowed = may !== undefined && (permission === "any" || may.has(permission as Permission));
      const ids = isAllowed && row.fresh ? { ...own.ids, ...(await row.fresh(own, service)) } : own.ids;
      const here = await ask(row.call(ids));
      if (may === undefined) {
        expect(here.status, cell).toBe(401);
      } else if (isAllowed) {
        expect(here.status, cell).toBe(typeof row.allowed === "number" ? row.allowed : row.allowed(caller));
        if (here.status < 300) await row.restore?.(own, service, caller);
      } else {
        expect(here.status, cell).toBe(403);
        expect(here.body.detail, cell).toContain(permission);
      }
      if (!isInOrganization) return;

      const unknownTo = may === undefined ? who : "everybody";
      const elsewhere = await ask(there);
      expect(elsewhere.status, cell).toBe(may === undefined ? 401 : 404);
      await answers.expectSame(`${cell} elsewhere`, `nowhere ${unknownTo}`, elsewhere, () => ask(nowhere));
      if (row.names === "nothing") return;

      const anothers = await ask(row.call(foreign.ids));
      expect(anothers.status, cell).toBe(may === undefined ? 401 : isAllowed ? 404 : 403);
      const asked = may === undefined ? who : isAllowed ? "who may" : "who may not";
      await answers.expectSame(`${cell} on what is another's`, asked, anothers, () => ask(unknown));
    });
  });

  test.each(Object.entries(rows))(
    "%s is not for another organization's owner, or a member who was removed",
    async (operationId, row) => {
      const { path } = (await own.organization.api.document()).operation(operationId);
      if (!path.includes("{organizationId}")) return;
      for (const text of [foreign.organization.owner.token, await removedMember()]) {
        const client = own.organization.api.as(text);
        const nowhere = { ...row.call(own.ids), params: { ...row.call(own.ids).params, organizationId: unknownId } };
        const refused = await client.refused(operationId, "NotFoundError", row.call(own.ids));
        expectSame(refused, await client.callAny(operationId, nowhere), operationId);
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

/** The audit trail's first: they read all of it, and every other row makes it longer. */
const inOrder = Object.entries(rows).sort(
  ([one], [other]) => Number(/Audit$/.test(other)) - Number(/Audit$/.test(one)),
);

type Answered = Answer<ProblemBody>;

/** What is refused is refused to everybody with the same bytes: each answer is held against the one to what does not exist. */
class SameAnswers {
  readonly #references = new Map<string, Promise<Answered>>();

  /** `askForUnknown` is called once for each `group` of callers. */
  async expectSame(
    cell: string,
    group: string,
    answer: Answered,
    askForUnknown: () => Promise<Answered>,
  ): Promise<void> {
    const reference = this.#references.get(group) ?? askForUnknown();
    this.#references.set(group, reference);
    expectSame(answer, await reference, cell);
  }
}

/** Nobody can tell the answers apart. */
function expectSame(one: Answered, other: Answered, cell: string): void {
  expect(one.status, cell).toBe(other.status);
  expect({ ...one.body, requestId: "" }, cell).toEqual({ ...other.body, requestId: "" });
}

/** As many as keep the service busy while the store commits. */
const maxAtOnce = 8;

async function atOnce<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: maxAtOnce }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
}

function organizationOf({ ids: { organizationId } }: World): { readonly organizationId: string } {
  return { organizationId };
}
