import { randomUUID } from "node:crypto";
import { rowsOfAction } from "@stepwell/testing/audit-rows.ts";
import type { Client } from "@stepwell/testing/client.ts";
import { storeToken } from "@stepwell/testing/identities/stored-token.ts";
import { newSignedInPerson, rightPassword } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { describe, expect, test } from "vitest";
import type { ApiToken } from "../../../src/store/access/tokens.ts";

interface Token {
  readonly tokenId: string;
  readonly token: string;
  readonly expiresAt?: string;
}

const managing = ["apitoken:create", "apitoken:read", "apitoken:update", "apitoken:revoke", "invitation:create"];
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

onOneStore((home) => {
  const service = useService(home);

  /** Makes an organization, and a token that manages the organization's tokens and expires in an hour. */
  async function endingSoon(values: Partial<ApiToken> = {}) {
    const { api, organizationId } = await service.newOrganization();
    const end = Math.floor((service.running.engine.now() + hourMs) / 1_000) * 1_000;
    const permissions = [...managing, "job:list"];
    const own = await storeToken(service, organizationId, { permissions, expiresAt: end, ...values });
    return { api, organizationId, end, own, program: api.as(own.token) };
  }

  async function create(api: Client, more: object = {}): Promise<Token> {
    const body = { name: "t", permissions: ["job:list"], ...more };
    return (await api.call<Token>("CreateApiToken", { body })).body;
  }

  async function endOf(api: Client, { tokenId }: Pick<Token, "tokenId">): Promise<string | undefined> {
    return (await api.call<Token>("GetApiToken", { params: { tokenId } })).body.expiresAt;
  }

  const later = (end: number) => [null, new Date(end + 1).toISOString(), "2099-01-01T00:00:00Z"];

  test("a token cannot lengthen its own life", async () => {
    const { api, own, program, end } = await endingSoon();
    const params = { tokenId: own.tokenId };
    for (const expiresAt of later(end)) {
      const { body } = await program.refused("UpdateApiToken", "AuthorizationError", { params, body: { expiresAt } });
      expect(body.errors).toEqual([
        { pointer: "/expiresAt", detail: expect.stringContaining(new Date(end).toISOString()) },
      ]);
    }
    expect(await endOf(api, own)).toBe(new Date(end).toISOString());
    const sooner = new Date(end - 60_000).toISOString();
    await program.call("UpdateApiToken", { params, body: { expiresAt: sooner } });
    expect(await endOf(api, own)).toBe(sooner);
  });

  test("a token cannot create a token that lives longer, and the attempt is in the audit trail", async () => {
    const { api, organizationId, program, end } = await endingSoon();
    for (const expiresAt of later(end)) {
      const body = { name: "t", permissions: ["job:list"], expiresAt };
      await program.refused("CreateApiToken", "AuthorizationError", { body });
    }
    expect((await api.call<{ apiTokens: object[] }>("ListApiTokens")).body.apiTokens).toHaveLength(1);
    const denied = await rowsOfAction(service, organizationId, "CreateApiToken");
    expect(denied.map(({ outcome }) => outcome)).toEqual(later(end).map(() => "denied"));
    const child = await create(program);
    expect(child.expiresAt).toBe(new Date(end).toISOString());
    expect((await create(program, { expiresAt: new Date(end).toISOString() })).expiresAt).toBe(child.expiresAt);
  });

  test("a token cannot get the secret of a token that lives longer", async () => {
    const { api, own, program, end } = await endingSoon();
    const lasting = await create(api, { expiresAt: null });
    const params = { tokenId: lasting.tokenId };
    const { body } = await program.refused("RotateApiToken", "AuthorizationError", { params });
    expect(body.detail).toContain(new Date(end).toISOString());
    expect((await api.as(lasting.token).callAny("ListJobs", {})).status).toBe(200);
    await program.call("RotateApiToken", { params: { tokenId: own.tokenId } });
  });

  test("a token cannot give more permissions to a token that lives longer, but can remove some", async () => {
    const { api, program } = await endingSoon();
    const lasting = await create(api, { expiresAt: null, boundTo: { tags: ["qa"] } });
    const params = { tokenId: lasting.tokenId };
    const changes = [{ permissions: ["job:list", "apitoken:create"] }, { boundTo: null }, { boundTo: { tags: ["a"] } }];
    for (const body of changes) await program.refused("UpdateApiToken", "AuthorizationError", { params, body });
    await program.call("UpdateApiToken", { params, body: { name: "renamed" } });
    await program.call("UpdateApiToken", { params, body: { expiresAt: "2098-01-01T00:00:00Z" } });
    await program.refused("UpdateApiToken", "AuthorizationError", { params, body: { expiresAt: null } });
    await program.call("RevokeApiToken", { params });
  });

  test("an invitation of a token ends with the token", async () => {
    const { api, organizationId, end } = await endingSoon();
    await api.call("CreateRole", { body: { name: "lister", permissions: ["job:list"] } });
    const permissions = ["invitation:create", "job:list", "job:read"];
    const { token } = await storeToken(service, organizationId, { permissions, expiresAt: end });
    // The token may give this role, since it holds every permission of the role.
    const invite = { roles: ["lister"] };
    const { body } = await api.as(token).call<{ expiresAt: string }>("CreateInvitation", { body: invite });
    expect(body.expiresAt).toBe(new Date(end).toISOString());
    const expiresAt = new Date(end + dayMs).toISOString();
    await api.as(token).refused("CreateInvitation", "AuthorizationError", { body: { ...invite, expiresAt } });
  });

  test("a user token that expires creates no token, invitation or password link that lives longer", async () => {
    const end = Math.floor((service.running.engine.now() + hourMs / 2) / 1_000) * 1_000;
    const person = await newSignedInPerson(service);
    const { api, organizationId } = await service.newOrganization();
    await service.addMember(organizationId, person.userId, ["owner"]);
    const guest = await service.newUser();
    await service.addMember(organizationId, guest.userId, ["viewer"]);
    const wanted = { name: "t", password: rightPassword };
    const body = { ...wanted, expiresAt: new Date(end).toISOString() };
    const own = api.as((await person.client.call<Token>("CreateUserToken", { body })).body.token);
    for (const expiresAt of later(end)) {
      const { body: problem } = await own.refused("CreateUserToken", "AuthorizationError", {
        body: { ...wanted, expiresAt },
      });
      expect(problem.errors?.[0]?.pointer).toBe("/expiresAt");
      await own.refused("CreateApiToken", "AuthorizationError", {
        body: { name: "t", permissions: ["job:list"], expiresAt },
      });
    }
    const limit = new Date(end).toISOString();
    expect((await own.call<Token>("CreateUserToken", { body: wanted })).body.expiresAt).toBe(limit);
    expect((await create(own)).expiresAt).toBe(limit);
    const invited = await own.call<Token>("CreateInvitation", { body: { roles: ["viewer"] } });
    expect(invited.body.expiresAt).toBe(limit);
    const link = await own.call<Token>("CreatePasswordLink", { params: { userId: guest.userId } });
    expect(link.body.expiresAt).toBe(limit);
  });

  test("a token that is created by a credential without expiry ends after 90 days by default, and never if its expiry is null", async () => {
    const { api } = await service.newOrganization();
    const before = service.running.engine.now();
    const usual = await create(api);
    const inDays = (Date.parse(usual.expiresAt ?? "") - before) / dayMs;
    expect(inDays).toBeGreaterThanOrEqual(90);
    expect(inDays).toBeLessThan(90.01);
    expect(await endOf(api, usual)).toBe(usual.expiresAt);
    const lasting = await create(api, { expiresAt: null });
    expect(lasting).not.toHaveProperty("expiresAt");
    const { client } = await newSignedInPerson(service);
    const body = { name: "t", password: rightPassword };
    const own = (await client.call<Token>("CreateUserToken", { body })).body;
    expect(Math.round((Date.parse(own.expiresAt ?? "") - before) / dayMs)).toBe(90);
    expect(
      (await client.call<Token>("CreateUserToken", { body: { ...body, expiresAt: null } })).body,
    ).not.toHaveProperty("expiresAt");
  });

  describe("a secret that was rotated away", () => {
    async function rotated() {
      const { api, own, program } = await endingSoon({ expiresAt: null });
      const params = { tokenId: own.tokenId };
      const { body } = await api.call<Token>("RotateApiToken", { params });
      return { api, params, old: program, successor: api.as(body.token) };
    }

    test("cannot end, change or replace its successor", async () => {
      const { old, successor, params } = await rotated();
      await old.call("ListJobs");
      for (const [operation, body] of [
        ["RevokeApiToken", undefined],
        ["UpdateApiToken", { permissions: ["job:list"] }],
        ["RotateApiToken", { overlapSeconds: 0 }],
      ] as const) {
        const { body: problem } = await old.refused(operation, "AuthorizationError", {
          params,
          ...(body !== undefined && { body }),
        });
        expect(problem.detail).toContain("Use the current secret");
      }
      await successor.call("GetApiToken", { params });
      await successor.call("UpdateApiToken", { params, body: { name: "renamed" } });
    });

    test("cannot create or manage other tokens, or invite anybody", async () => {
      const { api, old } = await rotated();
      const other = await create(api, { permissions: ["job:list"] });
      const params = { tokenId: other.tokenId };
      await old.refused("CreateApiToken", "AuthorizationError", { body: { name: "t", permissions: ["job:list"] } });
      await old.refused("RotateApiToken", "AuthorizationError", { params });
      await old.refused("UpdateApiToken", "AuthorizationError", { params, body: { name: "mine" } });
      await old.refused("RevokeApiToken", "AuthorizationError", { params });
      await api.call("CreateRole", { body: { name: "lister", permissions: ["job:list"] } });
      const { body } = await old.refused("CreateInvitation", "AuthorizationError", { body: { roles: ["lister"] } });
      expect(body.detail).toContain("was replaced by a rotation");
      expect((await api.as(other.token).callAny("ListJobs", {})).status).toBe(200);
    });

    test("cannot delete the organization and all newer credentials with it", async () => {
      const { organizationId, own, api } = await endingSoon({
        permissions: ["organization:delete", "apitoken:read"],
        expiresAt: null,
      });
      const { body } = await api.call<Token>("RotateApiToken", { params: { tokenId: own.tokenId } });
      await api.as(own.token).refused("DeleteOrganization", "AuthorizationError", { params: { organizationId } });
      await api.as(body.token).call("DeleteOrganization", { params: { organizationId } });
    });

    test("can repeat the very rotation whose answer was lost, and no other", async () => {
      const { program, own } = await endingSoon({ expiresAt: null });
      const params = { tokenId: own.tokenId };
      const once = { params, headers: { "amz-sdk-invocation-id": randomUUID() } };
      const lost = (await program.call<Token>("RotateApiToken", once)).body;
      const found = (await program.call<Token>("RotateApiToken", once)).body;
      expect((await program.as(lost.token).callAny("ListJobs", {})).status).toBe(401);
      const successor = program.as(found.token);
      await successor.call("ListJobs");
      const another = { params, headers: { "amz-sdk-invocation-id": randomUUID() } };
      await program.refused("RotateApiToken", "AuthorizationError", another);
      // The new secret now rotates the token. After that, the first rotation cannot be repeated any more.
      await successor.call("RotateApiToken", { params });
      await successor.refused("RotateApiToken", "AuthorizationError", once);
    });
  });
});
