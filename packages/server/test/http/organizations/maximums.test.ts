import type { Client } from "@stepwell/testing/client.ts";
import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { deploy } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { limitOrganizations } from "../../../src/operator/accounts.ts";

onOneStore((home) => {
  const service = useService(home, {
    STEPWELL_MAX_API_TOKENS: "3",
    STEPWELL_MAX_OAUTH_CLIENTS: "2",
    STEPWELL_MAX_ROLES: "2",
    STEPWELL_MAX_OPEN_INVITATIONS: "2",
    STEPWELL_MAX_WORKFLOWS: "3",
    STEPWELL_MAX_VERSIONS_PER_WORKFLOW: "2",
    STEPWELL_MAX_TAGS_PER_WORKFLOW: "2",
    STEPWELL_MAX_MEMBERS: "4",
    STEPWELL_MAX_ORGANIZATIONS_PER_ACCOUNT: "2",
  });

  /** Sends all requests at the same time. Returns how many were accepted, and the messages of the others. */
  async function race(api: Client, operation: string, bodies: readonly object[]) {
    const answers = await Promise.all(bodies.map((body) => api.callAny<{ detail: string }>(operation, { body })));
    const refused = answers.filter(({ status }) => status === 409);
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length + refused.length).toBe(bodies.length);
    return { madeCount: made.length, details: [...new Set(refused.map(({ body }) => body.detail))] };
  }

  const tokens = Array.from({ length: 8 }, (_, index) => ({ name: `t${index}`, permissions: ["job:read"] }));

  test("if many requests ask for the last places of a maximum at once, exactly as many succeed as there are places", async () => {
    const { api } = await service.newOrganization();
    await api.call("CreateApiToken", { body: tokens[0] });
    const raced = await race(api, "CreateApiToken", tokens);
    expect(raced.madeCount).toBe(2);
    expect(raced.details).toEqual([
      "An organization has at most 3 API tokens here. Revoke tokens that are not needed any more. The operator of the service can raise the maximum: `stepwell org limits ID --max apiTokens=NUMBER` for this organization, or STEPWELL_MAX_API_TOKENS for all.",
    ]);
    const { body } = await api.call<{ apiTokens: unknown[] }>("ListApiTokens");
    expect(body.apiTokens).toHaveLength(3);
  });

  test("a place is free again when its token is revoked, and one organization's tokens take none of another's places", async () => {
    const [{ api }, other] = [await service.newOrganization(), await service.newOrganization()];
    const made = await Promise.all(
      tokens.slice(0, 3).map((body) => api.call<{ tokenId: string }>("CreateApiToken", { body })),
    );
    await api.refused("CreateApiToken", "ConflictError", { body: tokens[0] });
    await other.api.call("CreateApiToken", { body: tokens[0] });
    await api.call("RevokeApiToken", { params: { tokenId: made[0]?.body.tokenId ?? "" } });
    await api.call("CreateApiToken", { body: tokens[0] });
    await api.refused("CreateApiToken", "ConflictError", { body: tokens[0] });
  });

  test("an answer says how much of the maximum is left after something was created", async () => {
    const { api } = await service.newOrganization();
    const { headers } = await api.call("CreateApiToken", { body: tokens[0] });
    expect(headers.get("ratelimit-policy")).toMatch(/, "apiTokens";q=3$/);
    expect(headers.get("ratelimit")).toMatch(/, "apiTokens";r=2$/);
  });

  test("an answer says nothing about the maximum if nothing was created", async () => {
    const { api, organizationId } = await service.newOrganization();
    await service.setMaximums(organizationId, { members: 1 });
    const { headers } = await api.refused("CreateInvitation", "ConflictError", { body: { roles: ["viewer"] } });
    expect(headers.get("ratelimit")).not.toContain("openInvitations");
    expect(headers.get("ratelimit-policy")).not.toContain("openInvitations");
  });

  test("the operator gives one organization its own maximum, which applies from the next request on, and removes it", async () => {
    const { api, organizationId } = await service.newOrganization();
    await service.setMaximums(organizationId, { apiTokens: 1 });
    expect(await race(api, "CreateApiToken", tokens)).toMatchObject({
      madeCount: 1,
      details: [expect.stringMatching(/at most 1 API tokens/)],
    });
    await service.setMaximums(organizationId, { apiTokens: null });
    expect(await race(api, "CreateApiToken", tokens)).toMatchObject({ madeCount: 2 });
    const { body } = await api.call<{ entries: { details: object }[] }>("ListAudit", {
      query: { action: "UpdateOrganizationLimits" },
    });
    expect(body.entries.map(({ details }) => details)).toEqual([
      { apiTokens: { from: 1, to: null } },
      { apiTokens: { from: null, to: 1 } },
    ]);
  });

  test("roles, OAuth clients and open invitations have their maximums too", async () => {
    const { api, organizationId } = await service.newOrganization();
    await service.setMaximums(organizationId, { oauthClients: 1 });
    const oauthClients = ["a", "b", "c"].map((name) => ({ name, redirectUris: ["https://app.example.org/"] }));
    expect(await race(api, "CreateOAuthClient", oauthClients)).toMatchObject({
      madeCount: 1,
      details: [
        expect.stringMatching(/at most 1 OAuth clients.*--max oauthClients=NUMBER.*STEPWELL_MAX_OAUTH_CLIENTS/),
      ],
    });
    const roles = ["a", "b", "c", "d"].map((name) => ({ name, permissions: ["job:read"] }));
    expect(await race(api, "CreateRole", roles)).toMatchObject({
      madeCount: 2,
      details: [expect.stringContaining("at most 2 roles of its own")],
    });
    const invitations = [1, 2, 3, 4].map(() => ({ roles: ["viewer"] }));
    expect(await race(api, "CreateInvitation", invitations)).toMatchObject({
      madeCount: 2,
      details: [expect.stringContaining("at most 2 open invitations")],
    });
  });

  test("workflows have a maximum, a taken name is still reported as taken, and a deleted workflow frees its place", async () => {
    const { api } = await service.newOrganization();
    const names = ["a", "b", "c", "d", "e"].map((name) => ({ name }));
    expect(await race(api, "RegisterWorkflow", names)).toMatchObject({
      madeCount: 3,
      details: [expect.stringContaining("at most 3 workflows")],
    });
    const { body } = await api.call<{ workflows: { workflowId: string; name: string }[] }>("ListWorkflows");
    const [first] = body.workflows;
    const taken = await api.refused("RegisterWorkflow", "ConflictError", { body: { name: first?.name } });
    expect(taken.body.detail).toContain("already");
    await api.call("DeleteWorkflow", { params: { workflowId: first?.workflowId ?? "" } });
    await api.call("RegisterWorkflow", { body: { name: "f" } });
  });

  test("versions and tags have a maximum in each workflow, and an existing tag can still be moved", async () => {
    const { api } = await service.newOrganization();
    const { workflowId, versionId } = await deploy(api, straightDefinition);
    const other = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "other" } });
    const bound = api.bind({ workflowId });
    const definitions = [1, 2, 3, 4].map(() => ({ definition: straightDefinition }));
    expect(await race(bound, "RegisterWorkflowVersion", definitions)).toMatchObject({
      madeCount: 1,
      details: [expect.stringContaining("A workflow has at most 2 versions")],
    });
    await api.call("RegisterWorkflowVersion", { params: { workflowId: other.body.workflowId }, body: definitions[0] });

    const set = (tag: string) => bound.callAny("SetWorkflowVersionTag", { params: { tag }, body: { versionId } });
    const statuses = (await Promise.all(["x", "y", "z"].map(set))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 409, 409]);
    expect((await set("$LIVE")).status).toBe(200);
  });

  test("an invitation takes a place among the members, so an invited person can always join", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    await service.newMember(organization, ["viewer"]);
    const invitations = [1, 2, 3].map(() => ({ roles: ["viewer"] }));
    expect((await race(api, "CreateInvitation", invitations)).madeCount).toBe(2);
    const { body } = await api.call<{ invitations: { invitationId: string }[] }>("ListInvitations");
    await api.call("RevokeInvitation", { params: { invitationId: body.invitations[0]?.invitationId ?? "" } });
    const invited = await api.call<{ code: string }>("CreateInvitation", { body: { roles: ["viewer"] } });
    await service.setMaximums(organization.organizationId, { members: 2 });
    const guest = await service.newUser();
    const accept = { body: { invitation: invited.body.code } };
    const { body: full } = await guest.client.refused("AcceptInvitation", "ConflictError", accept);
    expect(full.detail).toContain("at most 2 members and open invitations");
    await service.setMaximums(organization.organizationId, { members: 3 });
    await guest.client.call("AcceptInvitation", accept);
    await api.refused("CreateInvitation", "ConflictError", { body: { roles: ["viewer"] } });
  });

  test("an account can create a limited number of organizations, however many requests come at once, and another account has its own limit", async () => {
    const [user, other] = [await service.newUser(), await service.newUser()];
    const names = [1, 2, 3, 4, 5, 6].map((number) => ({ name: `o${number}`, displayName: "o" }));
    const raced = await race(user.client, "CreateOrganization", names);
    expect(raced).toMatchObject({
      madeCount: 2,
      details: [expect.stringMatching(/at most 2 organizations.*STEPWELL_MAX_ORGANIZATIONS_PER_ACCOUNT/)],
    });
    const created = await other.client.call<{ organizationId: string }>("CreateOrganization", { body: names[0] });
    expect(created.headers.get("ratelimit")).toMatch(/"organizations";r=1$/);
    // The limit counts the organizations that the user created, and not those that the user came to own. An organization counts until it is deleted.
    await service.addMember(created.body.organizationId, user.userId, ["owner"]);
    const { body } = await user.client.call<{ organizations: { organizationId: string; name: string }[] }>(
      "ListOrganizations",
    );
    const own = body.organizations.find(({ organizationId }) => organizationId !== created.body.organizationId);
    await user.client.call("DeleteOrganization", { params: { organizationId: own?.organizationId ?? "" } });
    await user.client.call("CreateOrganization", { body: names[0] });
    await user.client.refused("CreateOrganization", "ConflictError", { body: names[0] });
  });

  test("the operator sets how many organizations one account can create, and may set zero", async () => {
    const user = await service.newUser();
    const { database } = service.running;
    const email = `${user.userId}@example.org`;
    const body = { name: "o", displayName: "o" };
    await limitOrganizations(database, email, 0);
    const refused = await user.client.refused("CreateOrganization", "AuthorizationError", { body });
    expect(refused.body.detail).toContain("stepwell user organizations");
    await limitOrganizations(database, email, 3);
    expect((await race(user.client, "CreateOrganization", Array(5).fill(body))).madeCount).toBe(3);
    const { body: own } = await user.client.call("GetAccountLimits");
    const userTokens = { name: "userTokens", maximum: 50, usedCount: 1, isOwn: false };
    expect(own).toEqual({
      limits: [{ name: "organizations", maximum: 3, usedCount: 3, isOwn: true }, userTokens],
    });
    await limitOrganizations(database, email, null);
    const { body: usual } = await user.client.call("GetAccountLimits");
    expect(usual).toEqual({
      limits: [{ name: "organizations", maximum: 2, usedCount: 3, isOwn: false }, userTokens],
    });
    await user.client.refused("CreateOrganization", "ConflictError", { body });
  });
});
