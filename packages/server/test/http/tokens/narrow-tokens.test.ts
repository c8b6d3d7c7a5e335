import type { Client } from "@stepwell/testing/client.ts";
import { waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { beforeAll, expect, test } from "vitest";
import { unknownId } from "../authorization/authorization-rows.ts";

interface NarrowToken {
  readonly tokenId: string;
  readonly token: string;
  readonly permissions: readonly string[];
  readonly boundTo?: object;
}

/** How bounds are given to tokens, and which callers may give them. What the bounds do is tested in token-bounds.test.ts. */
onOneStore((home) => {
  const service = useService(home);
  let own: TestOrganization;
  let workflowId: string;
  let jobId: string;

  beforeAll(async () => {
    own = await service.newOrganization();
    ({ workflowId } = await deploy(own.api, waitingDefinition));
    ({ jobId } = await submitAndWait(own.api, workflowId));
  }, 60_000);

  async function create(api: Client, permissions: readonly string[], more: object = {}): Promise<NarrowToken> {
    return (await api.call<NarrowToken>("CreateApiToken", { body: { name: "t", permissions, ...more } })).body;
  }

  test("a token's bounds are shown in every answer that shows the token", async () => {
    const { api } = own;
    const boundTo = { workflowIds: [workflowId], tags: ["$LIVE", "staging"] };
    const created = await create(api, ["job:submit"], { boundTo });
    expect(created.boundTo).toEqual(boundTo);
    const params = { tokenId: created.tokenId };
    expect((await api.call("GetApiToken", { params })).body.boundTo).toEqual(boundTo);
    const { body } = await api.call<{ apiTokens: NarrowToken[] }>("ListApiTokens");
    expect(body.apiTokens.find(({ tokenId }) => tokenId === created.tokenId)?.boundTo).toEqual(boundTo);
    expect(await create(api, ["job:submit"])).not.toHaveProperty("boundTo");
  });

  test("an id in capital letters is the same id, and a workflow given both by id and name counts once", async () => {
    const boundTo = { workflowIds: [workflowId.toUpperCase(), workflowId] };
    const created = await create(own.api, ["workflow:read"], { boundTo });
    expect(created.boundTo).toEqual({ workflowIds: [workflowId] });
    await own.api.as(created.token).call("GetWorkflow", { params: { workflowId: workflowId.toUpperCase() } });
  });

  test.each<[string, () => object, string]>([
    ["bounds that bind nothing", () => ({ boundTo: {} }), "/boundTo"],
    ["bounds that are no object", () => ({ boundTo: "w" }), "/boundTo"],
    ["bounds of null", () => ({ boundTo: null }), "/boundTo"],
    ["an unknown kind of bound", () => ({ boundTo: { workflows: [workflowId] } }), "/boundTo/workflows"],
    ["no workflows", () => ({ boundTo: { workflowIds: [] } }), "/boundTo/workflowIds"],
    ["an invalid workflow id", () => ({ boundTo: { workflowIds: ["w"] } }), "/boundTo/workflowIds/0"],
    ["a workflow twice", () => ({ boundTo: { workflowIds: [workflowId, workflowId] } }), "/boundTo/workflowIds"],
    [
      "too many workflows",
      () => ({ boundTo: { workflowIds: Array.from({ length: 101 }, () => crypto.randomUUID()) } }),
      "/boundTo/workflowIds",
    ],
    ["an unknown workflow", () => ({ boundTo: { workflowIds: [workflowId, unknownId] } }), "/boundTo/workflowIds/1"],
    ["no tags", () => ({ boundTo: { tags: [] } }), "/boundTo/tags"],
    ["an invalid tag", () => ({ boundTo: { tags: ["$LIVE", "a b"] } }), "/boundTo/tags/1"],
    ["too many tags", () => ({ boundTo: { tags: Array.from({ length: 101 }, (_, n) => `t${n}`) } }), "/boundTo/tags"],
    ["an event without a job", () => ({ boundTo: { jobEvent: { eventId: "e" } } }), "/boundTo/jobEvent/jobId"],
    ["a job without an event", () => ({ boundTo: { jobEvent: { jobId } } }), "/boundTo/jobEvent/eventId"],
    ["an event without a name", () => ({ boundTo: { jobEvent: { jobId, eventId: "" } } }), "/boundTo/jobEvent/eventId"],
    [
      "an event with a hidden character",
      () => ({ boundTo: { jobEvent: { jobId, eventId: "a\u0001" } } }),
      "/boundTo/jobEvent/eventId",
    ],
    [
      "an unknown job",
      () => ({ permissions: ["job:event:send"], boundTo: { jobEvent: { jobId: unknownId, eventId: "e" } } }),
      "/boundTo/jobEvent/jobId",
    ],
    [
      "an event beside workflows",
      () => ({
        permissions: ["job:event:send"],
        boundTo: { workflowIds: [workflowId], jobEvent: { jobId, eventId: "e" } },
      }),
      "/boundTo/jobEvent",
    ],
    [
      "an event with another permission",
      () => ({ permissions: ["job:read"], boundTo: { jobEvent: { jobId, eventId: "e" } } }),
      "/permissions",
    ],
    [
      "an event with more permissions",
      () => ({ permissions: ["job:event:send", "job:read"], boundTo: { jobEvent: { jobId, eventId: "e" } } }),
      "/permissions",
    ],
  ])("%s is 400 with a pointer, and creates no token", async (_name, changes, pointer) => {
    const { api } = own;
    const before = await api.call("ListApiTokens");
    const body = { name: "t", permissions: ["job:read"], ...changes() };
    const { body: problem } = await api.refused("CreateApiToken", "ValidationError", { body });
    expect(problem.errors?.map((error) => error.pointer)).toContain(pointer);
    expect((await api.call("ListApiTokens")).body).toEqual(before.body);
  });

  test("bounds are replaced as a whole, removed by null, and take effect at once on the node that changed them", async () => {
    const { api } = own;
    const other = await deploy(api, waitingDefinition);
    const { token, tokenId } = await create(api, ["workflow:read"]);
    const program = api.as(token);
    const change = async (boundTo: object | null) =>
      (await api.call("UpdateApiToken", { params: { tokenId }, body: { boundTo } })).body;
    const read = async (id: string) => (await program.callAny("GetWorkflow", { params: { workflowId: id } })).status;

    expect([await read(workflowId), await read(other.workflowId)]).toEqual([200, 200]);
    await change({ workflowIds: [workflowId], tags: ["$LIVE"] });
    expect([await read(workflowId), await read(other.workflowId)]).toEqual([200, 404]);
    expect((await change({ workflowIds: [other.workflowId] })).boundTo).toEqual({ workflowIds: [other.workflowId] });
    expect([await read(workflowId), await read(other.workflowId)]).toEqual([404, 200]);
    await api.call("UpdateApiToken", { params: { tokenId }, body: { name: "renamed" } });
    expect(await read(workflowId)).toBe(404);
    expect(await change(null)).not.toHaveProperty("boundTo");
    expect([await read(workflowId), await read(other.workflowId)]).toEqual([200, 200]);
  });

  test("a change that binds a token to one event leaves it only that event", async () => {
    const { api } = own;
    const { tokenId } = await create(api, ["job:read"]);
    const params = { tokenId };
    const boundTo = { jobEvent: { jobId, eventId: "approved" } };
    const refused = await api.refused("UpdateApiToken", "ValidationError", { params, body: { boundTo } });
    expect(refused.body.errors?.[0]?.pointer).toBe("/boundTo/jobEvent");
    await api.call("UpdateApiToken", { params, body: { boundTo, permissions: ["job:event:send"] } });
    const widened = { params, body: { permissions: ["job:event:send", "job:read"] } };
    const { body } = await api.refused("UpdateApiToken", "ValidationError", widened);
    expect(body.errors?.[0]?.pointer).toBe("/permissions");
    const unknown = { boundTo: { workflowIds: [unknownId] } };
    const invalid = await api.refused("UpdateApiToken", "ValidationError", { params, body: unknown });
    expect(invalid.body.errors?.[0]?.pointer).toBe("/boundTo/workflowIds/0");
  });

  test("a looser bound is a grant, so it needs every permission that the token has", async () => {
    const { api } = own;
    const boundTo = { workflowIds: [workflowId] };
    const narrow = await create(api, ["job:cancel"], { boundTo });
    const params = { tokenId: narrow.tokenId };
    const changer = api.as((await create(api, ["apitoken:update", "job:read"])).token);
    for (const body of [{ boundTo: null }, { boundTo: { tags: ["$LIVE"] } }]) {
      const refused = await changer.refused("UpdateApiToken", "AuthorizationError", { params, body });
      expect(refused.body.detail).toContain("job:cancel");
    }
    const able = api.as((await create(api, ["apitoken:update", "job:cancel"])).token);
    await able.call("UpdateApiToken", { params, body: { boundTo: null } });
  });

  test("a narrow token creates, changes, rotates and revokes no tokens, not even itself", async () => {
    const { api } = own;
    const managing = ["apitoken:create", "apitoken:read", "apitoken:update", "apitoken:revoke"];
    for (const boundTo of [{ workflowIds: [workflowId] }, { tags: ["$LIVE"] }]) {
      const narrow = await create(api, managing, { boundTo });
      const client = api.as(narrow.token);
      const params = { tokenId: narrow.tokenId };
      const body = { name: "t", permissions: ["apitoken:read"], boundTo };
      const { body: problem } = await client.refused("CreateApiToken", "AuthorizationError", { body });
      expect(problem.detail).toContain("This token is bound to");
      await client.refused("UpdateApiToken", "AuthorizationError", { params, body: { boundTo: null } });
      await client.refused("RotateApiToken", "AuthorizationError", { params });
      await client.refused("RevokeApiToken", "AuthorizationError", { params });
      expect((await api.call("GetApiToken", { params })).body.boundTo).toEqual(boundTo);
    }
  });
});
