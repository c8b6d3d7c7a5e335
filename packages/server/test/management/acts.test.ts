import { randomUUID } from "node:crypto";
import { ask, rowsOfAction } from "@stepwell/testing/audit-rows.ts";
import { newSignedInPerson, rightPassword, signInAt } from "@stepwell/testing/people.ts";
import { type TestMember, type TestUser, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { hashToken } from "../../src/auth/credentials/token-form.ts";
import { signedInPermissions } from "../../src/auth/permissions/permissions.ts";
import { readConfig } from "../../src/config.ts";
import { createUserToken, revokeUserToken } from "../../src/management/account/user-tokens.ts";
import type { CallerAct, RepetitionKey } from "../../src/management/act/act.ts";
import { createApiToken, revokeApiToken, updateApiToken } from "../../src/management/tokens/api-tokens.ts";
import { rotateApiToken } from "../../src/management/tokens/token-rotation.ts";
import { createUserToken as createUserTokenByOperator } from "../../src/operator/accounts.ts";

const proof = { password: rightPassword, code: undefined };

/* These changes are made by acts that belong to no HTTP request, such as those of duties and of the command line. */
onOneStore((home) => {
  const service = useService(home);

  /** No credentials need to be forgotten, since a process that answers no requests remembers none. */
  function parts() {
    const { database, engine } = service.running;
    const authenticator = {
      forgetToken: () => {},
      forgetUser: () => {},
      forgetMembership: () => {},
      forgetOrganization: () => {},
    };
    const signIn = signInAt(service, () => engine.now());
    return { database, engine, config: readConfig({}), authenticator, signIn };
  }

  function actOf(
    user: TestUser,
    operation: string,
    permission: CallerAct["permission"],
    repetition?: RepetitionKey,
  ): CallerAct {
    const actor = { type: "user", id: user.userId, name: "A user" } as const;
    const caller = { principal: actor, organizationId: undefined, permissions: signedInPermissions };
    return { actor, operation, requestId: "", address: "", caller, permission, repetition, precondition: undefined };
  }

  function newToken(organizationId: string, permissions = ["job:list"]) {
    return { organizationId, name: "nightly", permissions, expiresAt: null, boundTo: undefined };
  }

  async function tokenCount(organizationId: string): Promise<number> {
    const text = "SELECT token_id FROM api_token WHERE organization_id = $1 AND revoked_at IS NULL";
    return (await ask(service.running.database, text, organizationId)).length;
  }

  test("a token that no request asked for works, and each of its changes is in the audit trail", async () => {
    const { organizationId, owner, api } = await service.newOrganization();
    const { created, token } = await createApiToken(
      parts(),
      actOf(owner, "CreateApiToken", "apitoken:create"),
      newToken(organizationId),
    );
    const key = { organizationId, tokenId: created.tokenId };
    expect((await api.as(token).callAny("ListJobs", {})).status).toBe(200);

    const change = { name: "hourly", permissions: undefined, expiresAt: undefined, boundTo: undefined };
    await updateApiToken(parts(), actOf(owner, "UpdateApiToken", "apitoken:update"), key, change);
    const rotated = await rotateApiToken(parts(), actOf(owner, "RotateApiToken", "apitoken:update"), key, 0);
    expect((await api.as(rotated.token).callAny("ListJobs", {})).status).toBe(200);
    await revokeApiToken(parts(), actOf(owner, "RevokeApiToken", "apitoken:revoke"), key);
    expect(await tokenCount(organizationId)).toBe(0);

    for (const action of ["CreateApiToken", "UpdateApiToken", "RotateApiToken", "RevokeApiToken"]) {
      const rows = await rowsOfAction(service, organizationId, action);
      expect(rows.map((row) => [row.outcome, row.actor_id, row.target_id])).toEqual([
        ["accepted", owner.userId, created.tokenId],
      ]);
      expect(rows[0]).toMatchObject({ request_id: "", address: "" });
    }
    const [updated] = await rowsOfAction(service, organizationId, "UpdateApiToken");
    expect(updated?.details).toEqual({ name: { from: "nightly", to: "hourly" } });
  });

  test("an act grants nothing that its actor lacks, and then leaves neither a token nor an entry", async () => {
    const organization = await service.newOrganization();
    const { organizationId } = organization;
    const viewer: TestMember = await service.newMember(organization, ["viewer"]);
    const act = actOf(viewer, "CreateApiToken", "apitoken:create");
    await expect(createApiToken(parts(), act, newToken(organizationId))).rejects.toMatchObject({
      code: "AuthorizationError",
    });
    expect(await tokenCount(organizationId)).toBe(0);
    expect(await rowsOfAction(service, organizationId, "CreateApiToken")).toEqual([]);
  });

  test("a token whose end is in the past cannot be created by any caller", async () => {
    const { organizationId, owner } = await service.newOrganization();
    const act = actOf(owner, "CreateApiToken", "apitoken:create");
    const wanted = { ...newToken(organizationId), expiresAt: service.running.engine.now() - 1 };
    await expect(createApiToken(parts(), act, wanted)).rejects.toMatchObject({
      code: "ValidationError",
      problems: [{ pointer: "/expiresAt" }],
    });
    await expect(
      createUserToken(parts(), actOf(owner, "CreateUserToken", "account:manage"), wanted, proof),
    ).rejects.toMatchObject({ code: "ValidationError" });
    expect(await tokenCount(organizationId)).toBe(0);
  });

  test("an act that is repeated under its key revokes the token of the attempt whose answer was lost", async () => {
    const { organizationId, owner, api } = await service.newOrganization();
    const repetition = { key: randomUUID(), requestHash: Buffer.alloc(32), onReplayed: () => {} };
    const attempt = (number: number) => {
      const act = actOf(owner, "CreateApiToken", "apitoken:create", { ...repetition, attempt: number });
      return createApiToken(parts(), act, newToken(organizationId));
    };
    const first = await attempt(1);
    const second = await attempt(2);
    expect(second.created.tokenId).not.toBe(first.created.tokenId);
    expect(await tokenCount(organizationId)).toBe(1);
    expect((await api.as(second.token).callAny("ListJobs", {})).status).toBe(200);
    await expect(attempt(1)).rejects.toMatchObject({ code: "ConflictError" });
    const [revocation] = await rowsOfAction(service, organizationId, "RevokeApiToken");
    expect(revocation).toMatchObject({
      target_id: first.created.tokenId,
      details: { replacedBy: second.created.tokenId },
    });
  });

  test("a user's tokens are recorded in the account's activity, whether the user or an operator made them", async () => {
    const owner = await newSignedInPerson(service);
    const act = actOf(owner, "CreateUserToken", "account:manage");
    const { created, token } = await createUserToken(parts(), act, { name: "laptop", expiresAt: null }, proof);
    expect((await owner.client.as(token).callAny("WhoAmI", {})).status).toBe(200);
    await revokeUserToken(parts(), actOf(owner, "RevokeUserToken", "account:manage"), created.tokenId);
    const { database } = service.running;
    const byOperator = await createUserTokenByOperator(database, `${owner.userId}@example.org`, "spare");
    expect((await owner.client.as(byOperator ?? "").callAny("WhoAmI", {})).status).toBe(200);

    const { body } = await owner.client.call<{ activities: { action: string; details: object }[] }>(
      "ListAccountActivity",
    );
    // The operator's command has its own clock, so the place of its entry among the activities may differ.
    const told = body.activities.map(({ action, details }) => ({ action, details }));
    expect(told).toContainEqual({ action: "user-token-created", details: { by: "command line" } });
    expect(told.filter(({ details }) => !("by" in details))).toEqual([
      { action: "user-token-revoked", details: { name: "laptop" } },
      { action: "user-token-created", details: { name: "laptop", tokenPrefix: created.tokenPrefix } },
    ]);
  });

  test("an act on another user's token finds no token", async () => {
    const [owner, stranger] = [await service.newUser(), await service.newUser()];
    const act = actOf(stranger, "RevokeUserToken", "account:manage");
    await expect(revokeUserToken(parts(), act, owner.tokenId)).rejects.toMatchObject({ code: "NotFoundError" });
    expect((await owner.client.callAny("WhoAmI", {})).status).toBe(200);
  });

  test("an act with a user token that has expired meanwhile creates no other token", async () => {
    const owner = await newSignedInPerson(service);
    await revokeUserToken(parts(), actOf(owner, "RevokeUserToken", "account:manage"), owner.tokenId);
    const act = actOf(owner, "CreateUserToken", "account:manage");
    const token = { tokenId: owner.tokenId, prefix: "", hash: hashToken(owner.token), expiresAt: null };
    const ended = { ...act, caller: { ...act.caller, token } };
    await expect(createUserToken(parts(), ended, { name: "next", expiresAt: null }, proof)).rejects.toMatchObject({
      code: "AuthenticationError",
    });
  });
});
