import type { Client } from "@stepwell/testing/client.ts";
import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { deploy } from "@stepwell/testing/flow.ts";
import { storeToken } from "@stepwell/testing/identities/stored-token.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, test } from "vitest";
import { parseToken } from "../../../src/auth/credentials/token-form.ts";

interface CreatedToken {
  readonly tokenId: string;
  readonly token: string;
  readonly tokenPrefix: string;
  readonly permissions: readonly string[];
}

onOneStore((home) => {
  const service = useService(home);

  async function create(api: Client, permissions: readonly string[], more: object = {}): Promise<CreatedToken> {
    return (await api.call<CreatedToken>("CreateApiToken", { body: { name: "t", permissions, ...more } })).body;
  }

  test("a token is shown once, and afterwards only its name, permissions and prefix are visible", async () => {
    const { api, organizationId, owner } = await service.newOrganization();
    const created = await create(api, ["job:read", "job:submit"], { expiresAt: "2099-01-01T00:00:00+01:00" });
    expect(created).toMatchObject({
      permissions: ["job:submit", "job:read"],
      createdBy: { type: "user", id: owner.userId },
      expiresAt: "2098-12-31T23:00:00.000Z",
    });
    expect(created.token.startsWith(created.tokenPrefix)).toBe(true);
    expect(parseToken(created.token)).toEqual({ kind: "organization", ownerId: organizationId });

    const params = { tokenId: created.tokenId };
    const read = await api.call("GetApiToken", { params });
    const list = await api.call<{ apiTokens: unknown[] }>("ListApiTokens");
    expect(list.body.apiTokens).toEqual([read.body]);
    expect(JSON.stringify([read.body, list.body])).not.toContain(created.token);
  });

  test("api-auth-tokens are the same tokens under another path, with the same action in the audit trail", async () => {
    const { api } = await service.newOrganization();
    const body = { name: "t", permissions: ["job:read"] };
    const { body: created } = await api.call<CreatedToken & { apiAuthTokenId: string }>("CreateApiAuthToken", { body });
    const { tokenId, apiAuthTokenId } = created;
    expect(apiAuthTokenId).toBe(tokenId);
    const params = { tokenId };
    const { body: read } = await api.call("GetApiToken", { params });
    expect(read).toMatchObject({ tokenId, apiAuthTokenId, name: "t" });
    expect((await api.call("GetApiAuthToken", { params })).body).toEqual(read);
    expect((await api.call("ListApiAuthTokens")).body).toEqual((await api.call("ListApiTokens")).body);
    await api.call("UpdateApiAuthToken", { params, body: { name: "u" } });
    const { body: rotated } = await api.call<{ token: string }>("RotateApiAuthToken", { params });
    const whoAmI = await api.as(rotated.token).call("WhoAmI");
    expect(whoAmI.body).toMatchObject({ id: tokenId, name: "u" });
    await api.call("RevokeApiAuthToken", { params });
    await api.refused("GetApiToken", "NotFoundError", { params });

    const { body: trail } = await api.call<{ entries: { action: string }[] }>("ListAudit", {
      query: { targetType: "apiToken" },
    });
    expect(trail.entries.map(({ action }) => action)).toEqual([
      "RevokeApiToken",
      "RotateApiToken",
      "UpdateApiToken",
      "CreateApiToken",
    ]);
  });

  test("the store contains no token", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { token } = await create(api, ["job:read"]);
    const rows = await service.running.database.query<object>(
      {
        name: "all_api_tokens",
        scope: "organization",
        planned: "each-time",
        text: "SELECT api_token::text FROM api_token WHERE organization_id = $1",
      },
      [organizationId],
    );
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(token.slice(-38));
  });

  test.each([
    ["no permissions", { permissions: [] }],
    ["an unknown permission", { permissions: ["job:reed"] }],
    ["a permission twice", { permissions: ["job:read", "job:read"] }],
    ["every permission at once", { permissions: ["*"] }],
    ["permissions that are no list", { permissions: "job:read" }],
    ["a permission that only users can have", { permissions: ["organization:create"] }],
    ["a name of 10,000 characters", { name: "x".repeat(10_000) }],
    ["a blank name", { name: "  " }],
    ["an expiry that is past", { expiresAt: "2020-01-01T00:00:00Z" }],
    ["an expiry that is no time", { expiresAt: "tomorrow" }],
    ["an unknown field", { organizationId: "x" }],
  ])("%s is 400 and makes no token", async (_name, changes) => {
    const { api } = await service.newOrganization();
    const body = { name: "t", permissions: ["job:read"], ...changes };
    await api.refused("CreateApiToken", "ValidationError", { body });
    expect((await api.call("ListApiTokens")).body).toEqual({ apiTokens: [] });
  });

  test("a mistyped permission gets an answer that suggests the intended one", async () => {
    const { api } = await service.newOrganization();
    const body = { name: "t", permissions: ["job:submitt"] };
    const { body: problem } = await api.refused("CreateApiToken", "ValidationError", { body });
    expect(problem.errors?.[0]?.detail).toContain("did you mean `job:submit`?");
  });

  test("a body full of wrong permissions is rejected quickly and with a short answer", async () => {
    const { api } = await service.newOrganization();
    const body = { name: "t", permissions: Array.from({ length: 200_000 }, () => "*") };
    const startedAt = performance.now();
    const { body: problem } = await api.refused("CreateApiToken", "ValidationError", { body });
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(5_000));
    expect(problem.errors?.length).toBeLessThan(60);
  });

  test("a caller cannot grant permissions that they lack, and a token can create tokens only if it has that permission", async () => {
    const { api } = await service.newOrganization();
    const maker = api.as((await create(api, ["apitoken:create", "apitoken:update", "job:submit"])).token);
    await create(maker, ["job:submit", "workflow:read"]);
    const refused = await maker.refused("CreateApiToken", "AuthorizationError", {
      body: { name: "t", permissions: ["job:submit", "job:cancel"] },
    });
    expect(refused.body.detail).toContain("job:cancel");
    const reader = api.as((await create(api, ["job:read"])).token);
    await reader.refused("CreateApiToken", "AuthorizationError", { body: { name: "t", permissions: ["job:read"] } });
  });

  test("a caller can give a token only permissions of their own, and cannot change a token that has more", async () => {
    const { api } = await service.newOrganization();
    const strong = await create(api, ["job:cancel"], { expiresAt: "2099-01-01T00:00:00Z" });
    const weak = await create(api, ["job:read"], { expiresAt: "2099-01-01T00:00:00Z" });
    const held = ["apitoken:update", "apitoken:revoke", "job:read"];
    const changer = api.as((await create(api, held, { expiresAt: null })).token);
    for (const body of [{ name: "renamed" }, { expiresAt: null }, { permissions: ["job:read"] }, { boundTo: null }]) {
      const params = { tokenId: strong.tokenId };
      const { body: problem } = await changer.refused("UpdateApiToken", "AuthorizationError", { params, body });
      expect(problem.detail).toContain("job:cancel");
    }
    await changer.refused("RotateApiToken", "AuthorizationError", { params: { tokenId: strong.tokenId } });
    await changer.refused("RevokeApiToken", "AuthorizationError", { params: { tokenId: strong.tokenId } });
    await api.as(strong.token).refused("ListJobs", "AuthorizationError");

    const params = { tokenId: weak.tokenId };
    await changer.refused("UpdateApiToken", "AuthorizationError", { params, body: { permissions: ["job:submit"] } });
    await changer.call("UpdateApiToken", { params, body: { name: "renamed", expiresAt: null } });
    const { body } = await api.call("GetApiToken", { params });
    expect(body).toMatchObject({ name: "renamed", permissions: ["job:read"] });
    expect(body).not.toHaveProperty("expiresAt");
  });

  test("a change of permissions takes effect at once on the node that made it", async () => {
    const { api } = await service.newOrganization();
    const { token, tokenId } = await create(api, ["job:list"]);
    const program = api.as(token);
    await program.call("ListJobs");
    await api.call("UpdateApiToken", { params: { tokenId }, body: { permissions: ["workflow:read"] } });
    await program.refused("ListJobs", "AuthorizationError");
    await program.call("ListWorkflows");
    await api.refused("UpdateApiToken", "ValidationError", { params: { tokenId }, body: {} });
  });

  test("a revoked token is rejected at once, and is no longer listed", async () => {
    const { api } = await service.newOrganization();
    const { token, tokenId } = await create(api, ["job:list"]);
    const program = api.as(token);
    await program.call("ListJobs");
    const params = { tokenId };
    expect((await api.call("RevokeApiToken", { params })).status).toBe(204);
    await program.refused("ListJobs", "AuthenticationError");
    await api.refused("GetApiToken", "NotFoundError", { params });
    await api.refused("RevokeApiToken", "NotFoundError", { params });
    await api.refused("UpdateApiToken", "NotFoundError", { params, body: { name: "x" } });
    expect((await api.call("ListApiTokens")).body).toEqual({ apiTokens: [] });
  });

  test("a token is rejected from the moment at which it expires", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { engine } = service.running;
    const expiresAt = engine.now() + 2_000;
    const { token } = await storeToken(service, organizationId, { permissions: ["job:list"], expiresAt });
    const program = api.as(token);
    await program.call("ListJobs");
    await expect.poll(() => engine.now() > expiresAt).toBe(true);
    const { body } = await program.refused("ListJobs", "AuthenticationError");
    expect(body.detail).toContain("expired");
  });

  test("a token of one organization can do nothing in another, also if it uses that organization's name", async () => {
    const { api } = await service.newOrganization();
    const other = await service.newOrganization();
    const { tokenId, token } = await create(api, ["job:list", "apitoken:read"]);
    await other.api.as(token).refused("ListJobs", "NotFoundError");
    await other.api.refused("GetApiToken", "NotFoundError", { params: { tokenId } });
    await other.api.refused("RevokeApiToken", "NotFoundError", { params: { tokenId } });
    await api.as(token).call("ListJobs");
  });

  test("a token lists its own organization, and cannot create another", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { token } = await create(api, ["organization:read"]);
    const { body } = await api.as(token).call<{ organizations: object[] }>("ListOrganizations");
    expect(body.organizations).toMatchObject([{ organizationId }]);
    const names = { name: "n", displayName: "n" };
    await api.as(token).refused("CreateOrganization", "AuthorizationError", { body: names });
  });

  test("the documented permissions of a pipeline are enough for a whole deployment: find or register, version, tag, submit, poll", async () => {
    const { api } = await service.newOrganization();
    const granted = ["workflow:create", "workflow:version:create", "job:submit", "job:read", "job:list"];
    const pipeline = api.as((await create(api, granted)).token);
    await pipeline.call("ListWorkflows", { query: { name: "w" } });
    const { workflowId, versionId } = await deploy(pipeline, straightDefinition);
    await pipeline.call("GetWorkflowVersion", { params: { workflowId, versionId } });
    const { body } = await pipeline.call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
    await pipeline.call("GetJob", { params: { jobId: body.jobId }, query: { waitSeconds: 20 } });
    await pipeline.call("ListJobs");
  });

  inWholeMatrix(() => {
    test("the last use of a token is recorded later, so that no request waits for it", async () => {
      const { api } = await service.newOrganization();
      const { token, tokenId } = await create(api, ["job:list"]);
      await api.as(token).call("ListJobs");
      const params = { tokenId };
      await expect
        .poll(async () => (await api.call("GetApiToken", { params })).body.lastUsedAt, {
          timeout: 15_000,
          interval: 500,
        })
        .toBeDefined();
    });
  });
});
