import { randomUUID } from "node:crypto";
import { unaliased } from "@stepwell/testing/aliases.ts";
import { rowsOfAction, rowsOfRequest } from "@stepwell/testing/audit-rows.ts";
import type { Client } from "@stepwell/testing/client.ts";
import { submitAndWait } from "@stepwell/testing/flow.ts";
import { type TestService, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { buildWorld, rows, type World } from "../authorization/authorization-rows.ts";

const account = "the account's own activity tells of it";
/** The operations with a writing method that leave no audit row, and the reason for each. */
const unaudited: Readonly<Record<string, string>> = {
  ValidateWorkflowVersion: "changes nothing",
  CheckPermissions: "changes nothing",
  SubmitJob: "the job itself says who submitted it",
  SubmitTask: "the job itself says who submitted it",
  PollTasks: "workers do it by the thousands",
  CompleteTask: "the job's history has it",
  FailTask: "the job's history has it",
  ReleaseTask: "the job's history has it",
  HeartbeatTask: "changes nothing but a lease",
  UpdateAccount: account,
  ChangePassword: account,
  StartSecondFactor: account,
  ConfirmSecondFactor: account,
  DisableSecondFactor: account,
  RenewRecoveryCodes: account,
  CreateUserToken: account,
  RevokeUserToken: account,
  EndSession: account,
};

type Attempt = { readonly api: Client; readonly ids: World["ids"] };

/** For each operation whose call in the authorization matrix does not always change something: an attempt that does. */
const attempts: Readonly<Record<string, (world: World, service: TestService) => Promise<Attempt>>> = {
  CancelJob: onWaitingJob,
  SendJobEvent: onWaitingJob,
  DeleteOrganization: async ({ ids }, service) => ({ api: (await service.newOrganization()).api, ids }),
  LeaveOrganization: async ({ organization, ids }, service) => ({
    api: (await service.newMember(organization, ["viewer"])).api,
    ids,
  }),
};

async function onWaitingJob({ organization: { api }, ids }: World): Promise<Attempt> {
  return { api, ids: { ...ids, jobId: (await submitAndWait(api, ids.workflowId)).jobId } };
}

const writing = ["POST", "PUT", "PATCH", "DELETE"];
const recorded = Object.keys(rows).filter(
  (operationId) =>
    !/^(Get|List|Watch|Explain|Export|Verify|WhoAmI)/.test(operationId) && unaudited[operationId] === undefined,
);

onOneStore((home) => {
  const service = useService(home);
  let world: World;
  let weak: string;

  beforeAll(async () => {
    world = await buildWorld(service);
    const body = { name: "weak", permissions: ["metrics:read"] };
    weak = (await world.organization.api.call<{ token: string }>("CreateApiToken", { body })).body.token;
  }, 60_000);

  test("every operation that writes is either recorded, or on the list of unrecorded ones", async () => {
    const { operations } = await world.organization.api.document();
    const all = operations.filter(({ method }) => writing.includes(method)).map(({ operationId }) => operationId);
    expect([...recorded, ...Object.keys(unaudited)].sort()).toEqual(all.sort());
  });

  describe("an accepted change leaves exactly one row, with its actor", () => {
    test.each(recorded)("%s", async (operationId) => {
      const row = rows[operationId];
      if (row === undefined) throw new Error(`${operationId} has no row.`);
      const ids = { ...world.ids, ...(await row.fresh?.(world, service)) };
      const { organization } = world;
      const attempt = (await attempts[operationId]?.(world, service)) ?? { api: organization.api, ids };
      const answer = await attempt.api.call(operationId, row.call(attempt.ids));
      const found = await rowsOfRequest(answer, service);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({ action: unaliased(operationId), outcome: "accepted", actor: { type: "user" } });
      if (attempt.api === organization.api) expect(found[0]?.actor_id).toBe(organization.owner.userId);
    });
  });

  describe("a change that is denied leaves exactly one row", () => {
    test.each(recorded)("%s", async (operationId) => {
      const row = rows[operationId];
      if (row === undefined) throw new Error(`${operationId} has no row.`);
      const { permission } = (await world.organization.api.document()).operation(operationId);
      // An operation that every caller may call is never denied.
      if (permission === "any") return;
      const answer = await world.organization.api
        .as(weak)
        .refused(operationId, "AuthorizationError", row.call(world.ids));
      const found = await rowsOfRequest(answer, service);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({
        organization_id: world.ids.organizationId,
        action: unaliased(operationId),
        outcome: "denied",
        actor: { type: "apiToken", name: "weak" },
        details: { reason: expect.stringContaining(permission) },
      });
    });
  });

  test.each(Object.keys(unaudited).filter((operationId) => rows[operationId] !== undefined))(
    "%s leaves no row, allowed or denied",
    async (operationId) => {
      const { api } = world.organization;
      const options = rows[operationId]?.call(world.ids) ?? {};
      const answers = [await api.callAny(operationId, options), await api.as(weak).callAny(operationId, options)];
      for (const answer of answers) expect(await rowsOfRequest(answer, service)).toEqual([]);
    },
  );

  test("rejected requests of strangers and of callers without a credential are not recorded", async () => {
    const { api } = world.organization;
    const stranger = await service.newUser();
    const name = randomUUID();
    const unknown = await api.as(stranger.token).refused("RegisterWorkflow", "NotFoundError", { body: { name } });
    const nobody = await api.as(undefined).refused("RegisterWorkflow", "AuthenticationError", { body: { name } });
    const invalid = await api.refused("RegisterWorkflow", "ValidationError", { body: { name: "" } });
    for (const answer of [unknown, nobody, invalid]) expect(await rowsOfRequest(answer, service)).toEqual([]);
  });

  test("reads, whether allowed or denied, are not recorded", async () => {
    const { api } = world.organization;
    const denied = await api.as(weak).refused("ListJobs", "AuthorizationError");
    expect(await rowsOfRequest(denied, service)).toEqual([]);
  });

  test("a denial deep in a handler is recorded as well", async () => {
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

  test("a caller who is denied again and again adds one row a second, which later says how many more denials there were", async () => {
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

  test("denied changes that differ in their body are rows of their own, whether they are denied before the body is read or afterwards", async () => {
    const { api } = world.organization;
    const permissions = ["metrics:read", "apitoken:create"];
    const { body: tried } = await api.call<{ token: string }>("CreateApiToken", {
      body: { name: "tries", permissions },
    });
    const caller = api.as(tried.token);
    const rowsLeftBy = async (operationId: string, bodies: readonly object[]) => {
      const attempts = bodies.map((body) => caller.refused(operationId, "AuthorizationError", { body }));
      const left = await Promise.all((await Promise.all(attempts)).map((answer) => rowsOfRequest(answer, service)));
      return left.flat().length;
    };
    const atTheDoor = ["viewer", "operator", "owner"].map((role) => ({ roles: [role], expiresInDays: 7 }));
    expect(await rowsLeftBy("CreateInvitation", [...atTheDoor, ...atTheDoor])).toBe(3);
    const within = ["organization:delete", "member:remove"].map((name) => ({ name, permissions: [name] }));
    expect(await rowsLeftBy("CreateApiToken", [...within, ...within])).toBe(2);
  });

  test("a caller who is denied ever new requests cannot fill the disk: at most sixty rows a minute are written", async () => {
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
    const roles = ["viewer"];
    await Promise.all(
      Array.from({ length: 100 }, (_, expiresInDays) =>
        scanner.refused("CreateInvitation", "AuthorizationError", { body: { roles, expiresInDays } }),
      ),
    );
    expect(await rowsOfAction(service, organizationId, "CreateInvitation")).toEqual([]);
  });

  test("a target that cannot be the id or name of anything is left out of the row", async () => {
    const { api } = world.organization;
    const { body } = await api.call<{ token: string }>("CreateApiToken", {
      body: { name: "odd", permissions: ["metrics:read"] },
    });
    const odd = api.as(body.token);
    for (const jobId of ["\u0000", "x".repeat(300)]) {
      const denied = await odd.refused("CancelJob", "AuthorizationError", { params: { jobId } });
      const found = await rowsOfRequest(denied, service);
      // Both denials are equal, because both ids are left out. Of equal denials, only one in each second is recorded, so the later one leaves no row.
      expect(found.map((row) => row.target_id)).toEqual(jobId === "\u0000" ? [null] : []);
    }
  });
});
