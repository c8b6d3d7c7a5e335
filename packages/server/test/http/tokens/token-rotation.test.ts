import type { Client } from "@stepwell/testing/client.ts";
import { storeToken } from "@stepwell/testing/identities/stored-token.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, test } from "vitest";

interface RotatedToken {
  readonly tokenId: string;
  readonly token: string;
  readonly tokenPrefix: string;
  readonly rotatedAt: string;
  readonly previousExpiresAt: string;
}

onOneStore((home) => {
  const service = useService(home);

  async function create(api: Client, more: object = {}): Promise<{ token: string; tokenId: string }> {
    const body = { name: "t", permissions: ["job:list"], ...more };
    return (await api.call<{ token: string; tokenId: string }>("CreateApiToken", { body })).body;
  }

  async function rotate(api: Client, tokenId: string, body?: object): Promise<RotatedToken> {
    const options = { params: { tokenId }, ...(body && { body }) };
    return (await api.call<RotatedToken>("RotateApiToken", options)).body;
  }

  async function statusOf(api: Client, token: string): Promise<number> {
    return (await api.as(token).callAny("ListJobs", {})).status;
  }

  test("both secrets of a rotated token work during the overlap, as one token", async () => {
    const { api } = await service.newOrganization();
    const { token, tokenId } = await create(api);
    expect(await statusOf(api, token)).toBe(200);
    const rotated = await rotate(api, tokenId);
    expect(rotated.tokenId).toBe(tokenId);
    expect(rotated.token).not.toBe(token);
    expect(rotated.token.startsWith(rotated.tokenPrefix)).toBe(true);
    expect(Date.parse(rotated.previousExpiresAt) - Date.parse(rotated.rotatedAt)).toBe(3_600_000);
    expect([await statusOf(api, token), await statusOf(api, rotated.token)]).toEqual([200, 200]);

    const { token: _, ...shown } = rotated;
    const { body } = await api.call("GetApiToken", { params: { tokenId } });
    expect(body).toMatchObject(shown);
    expect(JSON.stringify(body)).not.toContain(rotated.token);
    expect((await api.call<{ apiTokens: object[] }>("ListApiTokens")).body.apiTokens).toHaveLength(1);
  });

  test("after the overlap only the new secret works", async () => {
    const { api } = await service.newOrganization();
    const { engine } = service.running;
    const { token, tokenId } = await create(api);
    const rotated = await rotate(api, tokenId, { overlapSeconds: 2 });
    expect(await statusOf(api, token)).toBe(200);
    const end = Date.parse(rotated.previousExpiresAt);
    await expect.poll(() => engine.now() > end).toBe(true);
    const { body } = await api.as(token).refused("ListJobs", "AuthenticationError");
    expect(body.detail).toContain("rotated");
    expect(await statusOf(api, rotated.token)).toBe(200);
  });

  test("without an overlap the old secret ends at once", async () => {
    const { api } = await service.newOrganization();
    const { token, tokenId } = await create(api);
    expect(await statusOf(api, token)).toBe(200);
    const rotated = await rotate(api, tokenId, { overlapSeconds: 0 });
    expect([await statusOf(api, token), await statusOf(api, rotated.token)]).toEqual([401, 200]);
  });

  test("a second rotation within the overlap ends the oldest secret at once", async () => {
    const { api } = await service.newOrganization();
    const { token: oldest, tokenId } = await create(api);
    const { token: older } = await rotate(api, tokenId);
    expect([await statusOf(api, oldest), await statusOf(api, older)]).toEqual([200, 200]);
    const { token: newest } = await rotate(api, tokenId);
    expect([await statusOf(api, oldest), await statusOf(api, older), await statusOf(api, newest)]).toEqual([
      401, 200, 200,
    ]);
  });

  test("simultaneous rotations are serialized, and leave two secrets", async () => {
    const { api } = await service.newOrganization();
    const { token, tokenId } = await create(api);
    const rotated = await Promise.all(Array.from({ length: 8 }, () => rotate(api, tokenId)));
    const secrets = [token, ...rotated.map((answer) => answer.token)];
    expect(new Set(secrets).size).toBe(9);
    const statuses = await Promise.all(secrets.map((secret) => statusOf(api, secret)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    const { body } = await api.call("GetApiToken", { params: { tokenId } });
    const last = rotated.find(({ tokenPrefix }) => tokenPrefix === body.tokenPrefix);
    expect(last && (await statusOf(api, last.token))).toBe(200);
  });

  test("a rotated token keeps its permissions, its bounds and its expiry, with either secret", async () => {
    const { api } = await service.newOrganization();
    const expiresAt = "2099-01-01T00:00:00.000Z";
    const { token, tokenId } = await create(api, { permissions: ["job:submit"], expiresAt, boundTo: { tags: ["qa"] } });
    const { token: rotated } = await rotate(api, tokenId);
    const expected = { id: tokenId, permissions: ["workflow:read", "job:submit"], boundTo: { tags: ["qa"] } };
    const { body: byOld } = await api.as(token).call("WhoAmI");
    const { body: byNew } = await api.as(rotated).call("WhoAmI");
    expect([byOld, byNew]).toMatchObject([expected, { ...expected, expiresAt }]);
    await api.call("UpdateApiToken", { params: { tokenId }, body: { permissions: ["job:list"], boundTo: null } });
    expect([await statusOf(api, token), await statusOf(api, rotated)]).toEqual([200, 200]);
  });

  test("a secret that was rotated away does not live longer than its token", async () => {
    const { api, organizationId } = await service.newOrganization();
    const expiresAt = service.running.engine.now() + 60_000;
    const { tokenId } = await storeToken(service, organizationId, { permissions: ["job:list"], expiresAt });
    const rotated = await rotate(api, tokenId, { overlapSeconds: 604_800 });
    expect(Date.parse(rotated.previousExpiresAt)).toBe(expiresAt);
  });

  test("revocation ends both secrets", async () => {
    const { api } = await service.newOrganization();
    const { token, tokenId } = await create(api);
    const { token: rotated } = await rotate(api, tokenId);
    expect([await statusOf(api, token), await statusOf(api, rotated)]).toEqual([200, 200]);
    await api.call("RevokeApiToken", { params: { tokenId } });
    expect([await statusOf(api, token), await statusOf(api, rotated)]).toEqual([401, 401]);
    await api.refused("RotateApiToken", "NotFoundError", { params: { tokenId } });
  });

  inWholeMatrix(() => {
    test("a use of the old secret counts as a use of the token", async () => {
      const { api } = await service.newOrganization();
      const { token, tokenId } = await create(api);
      await rotate(api, tokenId);
      expect(await statusOf(api, token)).toBe(200);
      const params = { tokenId };
      await expect
        .poll(async () => (await api.call("GetApiToken", { params })).body.lastUsedAt, {
          timeout: 15_000,
          interval: 500,
        })
        .toBeDefined();
    });
  });

  test("a caller cannot rotate a token that has more permissions, or that is another organization's", async () => {
    const { api } = await service.newOrganization();
    const { tokenId } = await create(api, { permissions: ["job:cancel"] });
    const weak = api.as((await create(api, { permissions: ["apitoken:update", "job:read"] })).token);
    const { body } = await weak.refused("RotateApiToken", "AuthorizationError", { params: { tokenId } });
    expect(body.detail).toContain("job:cancel");
    const other = await service.newOrganization();
    await other.api.refused("RotateApiToken", "NotFoundError", { params: { tokenId } });
    expect((await api.call("GetApiToken", { params: { tokenId } })).body).not.toHaveProperty("rotatedAt");
  });

  test("a token with the permission to change tokens can rotate itself", async () => {
    const { api } = await service.newOrganization();
    const { token, tokenId } = await create(api, { permissions: ["apitoken:update", "job:list"] });
    const { token: rotated } = await rotate(api.as(token), tokenId, { overlapSeconds: 0 });
    expect([await statusOf(api, token), await statusOf(api, rotated)]).toEqual([401, 200]);
  });

  test.each([
    ["a negative overlap", { overlapSeconds: -1 }, "/overlapSeconds"],
    ["more than a week", { overlapSeconds: 604_801 }, "/overlapSeconds"],
    ["half a second", { overlapSeconds: 0.5 }, "/overlapSeconds"],
    ["a text", { overlapSeconds: "60" }, "/overlapSeconds"],
    ["an unknown field", { overlap: 60 }, "/overlap"],
    ["a list", [], ""],
  ])("an overlap of %s is 400 with a pointer, and changes nothing", async (_name, body, pointer) => {
    const { api } = await service.newOrganization();
    const { token, tokenId } = await create(api);
    const refused = await api.refused("RotateApiToken", "ValidationError", { params: { tokenId }, body });
    expect(refused.body.errors?.[0]?.pointer).toBe(pointer);
    expect(await statusOf(api, token)).toBe(200);
    expect((await api.call("GetApiToken", { params: { tokenId } })).body).not.toHaveProperty("rotatedAt");
  });

  test("a rotation does not support an Idempotency-Key, since its answer is shown once", async () => {
    const { api } = await service.newOrganization();
    const { tokenId } = await create(api);
    const headers = { "idempotency-key": "k" };
    await api.refused("RotateApiToken", "ValidationError", { params: { tokenId }, headers });
  });

  test("the store contains no secret of a rotated token", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { token, tokenId } = await create(api);
    const { token: rotated } = await rotate(api, tokenId);
    const rows = await service.running.database.query<object>(
      {
        name: "all_rotated_tokens",
        scope: "organization",
        planned: "each-time",
        text: "SELECT api_token::text FROM api_token WHERE organization_id = $1",
      },
      [organizationId],
    );
    expect(rows).toHaveLength(1);
    for (const secret of [token, rotated]) expect(JSON.stringify(rows)).not.toContain(secret.slice(-38));
  });
});
