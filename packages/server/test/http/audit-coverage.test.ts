import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { rowsOfAction, rowsOfRequest } from "../support/audit-rows.ts";
import { submitAndWait } from "../support/flow.ts";
import { useService } from "../support/service.ts";
import { onEveryStore } from "../support/stores.ts";
import { buildWorld, rows, type World } from "./authorization-rows.ts";

/** Operations with a writing method that leave no row, and why. */
const unaudited: Readonly<Record<string, string>> = {
  ValidateWorkflowVersion: "changes nothing",
  SubmitJob: "the job itself says who submitted it",
  CheckPermissions: "changes nothing",
};

/** What people do to their own accounts is no organization's, and kept in the account's activity. */
const personal = [
  "UpdateAccount",
  "ChangePassword",
  "StartSecondFactor",
  "ConfirmSecondFactor",
  "DisableSecondFactor",
  "RenewRecoveryCodes",
  "CreateUserToken",
  "RevokeUserToken",
];

/** Where the matrix of authorization acts on something that its call does not change. */
const fresh: Readonly<Record<string, (world: World) => Promise<Partial<World["ids"]>>>> = {
  CancelJob: async ({ organization: { api }, ids }) => ({ jobId: (await submitAndWait(api, ids.workflowId)).jobId }),
  SendJobEvent: async ({ organization: { api }, ids }) => ({ jobId: (await submitAndWait(api, ids.workflowId)).jobId }),
};

const writing = ["POST", "PUT", "PATCH", "DELETE"];
const audited = Object.keys(rows).filter((operationId) => /^(?!Get|List|Watch|Export|Verify|WhoAmI)/.test(operationId));
const recorded = audited.filter(
  (operationId) => unaudited[operationId] === undefined && !personal.includes(operationId),
);

onEveryStore((home) => {
  const service = useService(home);
  let world: World;
  let weak: string;

  beforeAll(async () => {
    world = await buildWorld(service);
    const body = { name: "weak", permissions: ["metrics:read"] };
    weak = (await world.organization.api.call<{ token: string }>("CreateApiToken", { body })).body.token;
  }, 60_000);

  test("every operation that writes is either recorded, or on the list of those that are not", async () => {
    const { operations } = await world.organization.api.document();
    const all = operations.filter(({ method }) => writing.includes(method)).map(({ operationId }) => operationId);
    expect([...recorded, ...Object.keys(unaudited), ...personal].sort()).toEqual(all.sort());
  });

  describe("an accepted change leaves exactly one row, with who did it", () => {
    test.each(recorded)("%s", async (operationId) => {
      const row = rows[operationId];
      if (row === undefined) throw new Error(`${operationId} has no row.`);
      const { api, owner } = world.organization;
      const usesUp = operationId === "DeleteOrganization" || operationId === "LeaveOrganization";
      const own = usesUp ? await service.newOrganization() : undefined;
      if (own !== undefined) await service.newMember(own, ["owner"]);
      const ids = { ...world.ids, ...(await (fresh[operationId] ?? row.fresh)?.(world, service)) };
      const caller = own?.api ?? api;
      const answer = await caller.call(operationId, row.call(ids));
      const found = await rowsOfRequest(answer, service);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({ action: operationId, outcome: "accepted" });
      expect(found[0]?.actor.type).toBe("user");
      if (own === undefined) expect(found[0]?.actor_id).toBe(owner.userId);
    });
  });

  describe("a change that is denied leaves exactly one row", () => {
    test.each(recorded)("%s", async (operationId) => {
      const row = rows[operationId];
      if (row === undefined) throw new Error(`${operationId} has no row.`);
      const { permission } = (await world.organization.api.document()).operation(operationId);
      // Nobody is denied what everybody may.
      if (permission === "any") return;
      const answer = await world.organization.api
        .as(weak)
        .refused(operationId, "AuthorizationError", row.call(world.ids));
      const found = await rowsOfRequest(answer, service);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({
        organization_id: world.ids.organizationId,
        action: operationId,
        outcome: "denied",
        actor: { type: "apiToken", name: "weak" },
        details: { reason: expect.stringContaining(permission) },
      });
    });
  });

  test.each(Object.keys(unaudited))("%s leaves no row, allowed or denied", async (operationId) => {
    const { api } = world.organization;
    const options = rows[operationId]?.call(world.ids) ?? {};
    const allowed = await api.call(operationId, options);
    const { permission } = (await api.document()).operation(operationId);
    if (permission === "any") return expect(await rowsOfRequest(allowed, service)).toEqual([]);
    const denied = await api.as(weak).refused(operationId, "AuthorizationError", options);
    expect([...(await rowsOfRequest(allowed, service)), ...(await rowsOfRequest(denied, service))]).toEqual([]);
  });

  test("what a stranger, or nobody, is refused is written nowhere", async () => {
    const { api } = world.organization;
    const stranger = await service.newUser();
    const name = randomUUID();
    const unknown = await api.as(stranger.token).refused("RegisterWorkflow", "NotFoundError", { body: { name } });
    const nobody = await api.as(undefined).refused("RegisterWorkflow", "AuthenticationError", { body: { name } });
    const invalid = await api.refused("RegisterWorkflow", "ValidationError", { body: { name: "" } });
    for (const answer of [unknown, nobody, invalid]) expect(await rowsOfRequest(answer, service)).toEqual([]);
  });

  test("what may be read, or may not, is no change", async () => {
    const { api } = world.organization;
    const denied = await api.as(weak).refused("ListJobs", "AuthorizationError");
    expect(await rowsOfRequest(denied, service)).toEqual([]);
  });

  test("what is denied deep in a handler is recorded as well", async () => {
    const { api } = world.organization;
    const permissions = ["apitoken:create", "apitoken:update"];
    const { body } = await api.call<{ token: string; tokenId: string }>("CreateApiToken", {
      body: { name: "climber", permissions },
    });
    const climber = api.as(body.token);
    const more = { name: "more", permissions: ["organization:delete"] };
    const created = await climber.refused("CreateApiToken", "AuthorizationError", { body: more });
    const widened = await climber.refused("UpdateApiToken", "AuthorizationError", {
      params: { tokenId: body.tokenId },
      body: more,
    });
    const reason = expect.stringContaining("organization:delete");
    const actor = { type: "apiToken", id: body.tokenId, name: "climber" };
    expect(await rowsOfRequest(created, service)).toMatchObject([{ outcome: "denied", actor, details: { reason } }]);
    expect(await rowsOfRequest(widened, service)).toMatchObject([
      { outcome: "denied", actor, target_type: "apiToken", target_id: body.tokenId, details: { reason } },
    ]);
  });

  test("a caller who is denied again and again writes one row a second, which later says how many more there were", async () => {
    const { api } = world.organization;
    const { body } = await api.call<{ token: string }>("CreateApiToken", {
      body: { name: "stubborn", permissions: ["metrics:read"] },
    });
    const stubborn = api.as(body.token);
    const cancel = (jobId: string) => stubborn.refused("CancelJob", "AuthorizationError", { params: { jobId } });
    const same = await Promise.all(Array.from({ length: 8 }, () => cancel(world.ids.jobId)));
    expect((await Promise.all(same.map((answer) => rowsOfRequest(answer, service)))).flat()).toHaveLength(1);
    const other = await rowsOfRequest(await cancel(world.ids.finishedJobId), service);
    expect(other).toMatchObject([{ target_id: world.ids.finishedJobId, details: { unrecorded: 7 } }]);
  });

  test("a caller who is denied ever new things cannot fill the disk: sixty rows a minute are written at most", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { body } = await api.call<{ token: string }>("CreateApiToken", {
      body: { name: "scanner", permissions: ["metrics:read"] },
    });
    const scanner = api.as(body.token);
    await Promise.all(
      Array.from({ length: 100 }, () =>
        scanner.refused("CancelJob", "AuthorizationError", { params: { jobId: randomUUID() } }),
      ),
    );
    expect(await rowsOfAction(service, organizationId, "CancelJob")).toHaveLength(60);
  });

  test("a target that nothing can be named by is left out of the row", async () => {
    const { api } = world.organization;
    const { body } = await api.call<{ token: string }>("CreateApiToken", {
      body: { name: "odd", permissions: ["metrics:read"] },
    });
    const odd = api.as(body.token);
    for (const jobId of ["\u0000", "x".repeat(300)]) {
      const denied = await odd.refused("CancelJob", "AuthorizationError", { params: { jobId } });
      const found = await rowsOfRequest(denied, service);
      // The second one within a second is the same operation on the same nothing.
      expect(found.map((row) => row.target_id)).toEqual(jobId === "\u0000" ? [null] : []);
    }
  });
});
