import type { Client } from "@stepwell/testing/client.ts";
import { waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { secondWithSlackMs } from "@stepwell/testing/soon.ts";
import { describe, expect, test } from "vitest";
import { byWayOf, useCluster } from "../../engine/node/cluster.ts";

describe("on two nodes over one PostgreSQL", () => {
  const cluster = useCluster(2);

  /** Asks repeatedly until the answer has this status, and then checks that the status stays the same. */
  async function answersSoon(status: number, ask: () => Promise<number>): Promise<void> {
    await expect.poll(ask, { timeout: secondWithSlackMs, interval: 20 }).toBe(status);
    for (let again = 0; again < 20; again += 1) expect(await ask()).toBe(status);
  }

  async function listed(there: Client, token: string): Promise<number> {
    return (await there.as(token).callAny("ListJobs", {})).status;
  }

  async function newToken() {
    const organization = await cluster.node(0).newOrganization();
    const { api } = organization;
    const there = byWayOf(cluster.node(1), organization);
    const body = { name: "t", permissions: ["job:list", "workflow:read"] };
    const { token, tokenId } = (await api.call<{ token: string; tokenId: string }>("CreateApiToken", { body })).body;
    expect(await listed(there, token)).toBe(200);
    return { api, there, token, params: { tokenId } };
  }

  test("a new secret works on every node at once, and a secret without an overlap ends on every node within a second", async () => {
    const { api, there, token, params } = await newToken();
    const { body } = await api.call<{ token: string }>("RotateApiToken", { params, body: { overlapSeconds: 0 } });
    expect(await listed(there, body.token)).toBe(200);
    await answersSoon(401, () => listed(there, token));
    expect(await listed(there, body.token)).toBe(200);
  });

  test("a secret that a second rotation ended is rejected on every node within a second", async () => {
    const { api, there, token, params } = await newToken();
    const { body: older } = await api.call<{ token: string }>("RotateApiToken", { params });
    expect(await listed(there, token)).toBe(200);
    const { body: newest } = await api.call<{ token: string }>("RotateApiToken", { params });
    await answersSoon(401, () => listed(there, token));
    expect([await listed(there, older.token), await listed(there, newest.token)]).toEqual([200, 200]);
  });

  test("simultaneous rotations on both nodes leave two secrets, the same on both", async () => {
    const { api, there, token, params } = await newToken();
    const rotated = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? api : there).call<{ token: string }>("RotateApiToken", { params }),
      ),
    );
    const secrets = [token, ...rotated.map(({ body }) => body.token)];
    await answersSoon(401, () => listed(there, token));
    const here = await Promise.all(secrets.map((secret) => listed(api, secret)));
    expect(here.filter((status) => status === 200)).toHaveLength(2);
    expect(await Promise.all(secrets.map((secret) => listed(there, secret)))).toEqual(here);
  });

  test("revocation ends both secrets on every node within a second", async () => {
    const { api, there, token, params } = await newToken();
    const { body } = await api.call<{ token: string }>("RotateApiToken", { params });
    expect(await listed(there, body.token)).toBe(200);
    await api.call("RevokeApiToken", { params });
    await Promise.all([token, body.token].map((secret) => answersSoon(401, () => listed(there, secret))));
  });

  test("a user who lost the permission creates no tokens, even in the second in which another node still remembers it", async () => {
    const organization = await cluster.node(0).newOrganization();
    const { api } = organization;
    const { workflowId } = await deploy(api, waitingDefinition);
    const leaving = await cluster.node(0).newMember(organization, ["developer"]);
    const narrowed = (
      await api.call<{ token: string; tokenId: string }>("CreateApiToken", {
        body: { name: "t", permissions: ["apitoken:create", "apitoken:update", "job:list"] },
      })
    ).body;
    const there = byWayOf(cluster.node(1), organization);
    for (const token of [leaving.token, narrowed.token]) expect(await listed(there, token)).toBe(200);

    await api.call("RemoveMember", { params: { userId: leaving.userId } });
    const params = { tokenId: narrowed.tokenId };
    await api.call("UpdateApiToken", { params, body: { boundTo: { workflowIds: [workflowId] } } });
    const body = { name: "kept", permissions: ["job:list"] };
    await there.as(leaving.token).refused("CreateApiToken", "NotFoundError", { body });
    await there.as(narrowed.token).refused("CreateApiToken", "AuthorizationError", { body });
    await there.as(narrowed.token).refused("UpdateApiToken", "AuthorizationError", { params, body: { boundTo: null } });
    await there.as(narrowed.token).refused("RotateApiToken", "AuthorizationError", { params });
    expect((await api.call<{ apiTokens: object[] }>("ListApiTokens")).body.apiTokens).toHaveLength(1);
  });

  test("a secret that was rotated away, or a token with a shortened life, grants nothing through a node with older data", async () => {
    const organization = await cluster.node(0).newOrganization();
    const { api } = organization;
    const there = byWayOf(cluster.node(1), organization);
    const managing = ["apitoken:create", "apitoken:update", "apitoken:revoke", "job:list"];
    const body = { name: "t", permissions: managing, expiresAt: null };
    const { token, tokenId } = (await api.call<{ token: string; tokenId: string }>("CreateApiToken", { body })).body;
    const params = { tokenId };
    expect(await listed(there, token)).toBe(200);
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    await api.call("UpdateApiToken", { params, body: { expiresAt } });
    const lasting = { name: "kept", permissions: ["job:list"], expiresAt: null };
    await there.as(token).refused("CreateApiToken", "AuthorizationError", { body: lasting });

    expect(await listed(there, token)).toBe(200);
    await api.call("RotateApiToken", { params });
    await there.as(token).refused("RevokeApiToken", "AuthorizationError", { params });
    await there.as(token).refused("RotateApiToken", "AuthorizationError", { params });
    expect((await api.call<{ apiTokens: object[] }>("ListApiTokens")).body.apiTokens).toHaveLength(1);
  });

  test("a bound takes effect on every node within a second", async () => {
    const { api, there, token, params } = await newToken();
    const [one, other] = [await deploy(api, waitingDefinition), await deploy(api, waitingDefinition)];
    const read = async () => {
      const options = { params: { workflowId: other.workflowId } };
      return (await there.as(token).callAny("GetWorkflow", options)).status;
    };
    expect(await read()).toBe(200);
    await api.call("UpdateApiToken", { params, body: { boundTo: { workflowIds: [one.workflowId] } } });
    await answersSoon(404, read);
  });

  test("a waiting request of a token gets no answer if the token was revoked meanwhile", async () => {
    const { api } = await cluster.node(0).newOrganization();
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    const body = { name: "t", permissions: ["job:read", "job:submit"] };
    const { token, tokenId } = (await api.call<{ token: string; tokenId: string }>("CreateApiToken", { body })).body;
    const held = api.as(token).callAny("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
    const other = { body: { workflowId }, query: { waitSeconds: 20 } };
    expect((await api.as(token).call("SubmitJob", other)).body).toHaveProperty("steps");
    await api.call("RevokeApiToken", { params: { tokenId } });
    await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } });
    expect(await held).toMatchObject({ status: 401, body: { code: "AuthenticationError" } });
  });
});
