import type { Client } from "@stepwell/testing/client.ts";
import { type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { createInvitationCode } from "../../../src/auth/credentials/token-form.ts";
import { insertInvitation } from "../../../src/store/access/invitations.ts";

interface NewInvitation {
  readonly invitationId: string;
  readonly link: string;
  readonly code: string;
  readonly roles: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string;
}

const dayMs = 86_400_000;

onOneStore((home) => {
  const service = useService(home, { STEPWELL_MAX_OPEN_INVITATIONS: "5" });

  async function invite(api: Client, body: object): Promise<NewInvitation> {
    return (await api.call<NewInvitation>("CreateInvitation", { body })).body;
  }

  const accept = (code: string) => ({ body: { invitation: code } });

  /** The invitation is written into the store, since the API makes none that has already expired. */
  async function expiredInvitation({ organizationId, owner }: TestOrganization): Promise<string> {
    const { database, engine } = service.running;
    const { code, codeHash } = createInvitationCode(organizationId);
    const createdAt = engine.now() - dayMs;
    const invitation = {
      organizationId,
      invitationId: engine.newId(),
      email: null,
      roles: ["viewer"],
      createdBy: { type: "user", id: owner.userId } as const,
      createdAt,
      expiresAt: engine.now() - 1,
      acceptedAt: null,
      acceptedBy: null,
    };
    await database.transaction((transaction) => insertInvitation(transaction, invitation, codeHash));
    return code;
  }

  test("a single role can be given as `role`, and the answer has it in `roles`", async () => {
    const { api } = await service.newOrganization();
    const { body } = await api.call("CreateInvitation", { body: { role: "viewer" } });
    expect(body).toMatchObject({ roles: ["viewer"] });
    expect(body).not.toHaveProperty("role");
  });

  test("an invited person becomes a member with the roles of the invitation, and the invitation is used up", async () => {
    const { api, organizationId, owner } = await service.newOrganization();
    const invitation = await invite(api, { roles: ["viewer", "ci"] });
    expect(invitation.link).toBe(`${service.baseUrl}/invitations/${invitation.code}`);
    expect(Date.parse(invitation.expiresAt) - Date.parse(invitation.createdAt)).toBe(7 * dayMs);
    const params = { invitationId: invitation.invitationId };
    const { link, code, ...shown } = invitation;
    const createdBy = { type: "user", id: owner.userId };
    expect((await api.call("GetInvitation", { params })).body).toEqual({ ...shown, createdBy, status: "open" });

    const user = await service.newUser();
    const accepted = await user.client.call("AcceptInvitation", accept(code));
    expect(accepted.body).toEqual({ organizationId, roles: ["viewer", "ci"] });
    const own = await user.client.bind({ organizationId }).call("GetOwnPermissions");
    expect(own.body.roles).toEqual(["viewer", "ci"]);
    const { body: after } = await api.call("GetInvitation", { params });
    expect(after).toMatchObject({ status: "accepted", acceptedBy: user.userId });

    await user.client.refused("AcceptInvitation", "ConflictError", accept(code));
    const late = await service.newUser();
    await late.client.refused("AcceptInvitation", "ConflictError", accept(code));
    await late.client.bind({ organizationId }).refused("GetOrganization", "NotFoundError");
    await api.refused("RevokeInvitation", "ConflictError", { params });
  });

  test("the store, the lists and the audit trail contain no link", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { code } = await invite(api, { roles: ["viewer"] });
    const rows: object[] = [];
    for (const table of ["invitation", "audit_entry"]) {
      const text = `SELECT ${table}::text FROM ${table} WHERE organization_id = $1`;
      const statement = { name: `all_${table}`, scope: "organization", planned: "each-time", text } as const;
      rows.push(...(await service.running.database.query<object>(statement, [organizationId])));
    }
    const list = await api.call("ListInvitations");
    expect(rows.length).toBeGreaterThan(1);
    expect(JSON.stringify([rows, list.body])).not.toContain(code.slice(-38));
  });

  test("unknown, mistyped, revoked and expired invitations, and those of a deleted organization, all give the same 404", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const revoked = await invite(api, { roles: ["viewer"] });
    const params = { invitationId: revoked.invitationId };
    expect((await api.call("RevokeInvitation", { params })).status).toBe(204);
    await api.refused("GetInvitation", "NotFoundError", { params });
    await api.refused("RevokeInvitation", "NotFoundError", { params });
    expect((await api.call("ListInvitations")).body).toEqual({ invitations: [] });

    const gone = await service.newOrganization();
    const ofGone = await invite(gone.api, { roles: ["viewer"] });
    await gone.api.call("DeleteOrganization");

    const user = await service.newUser();
    const bodies = [];
    const codes = [
      createInvitationCode(organization.organizationId).code,
      createInvitationCode(user.userId).code,
      `${revoked.code.slice(0, -1)}${revoked.code.endsWith("0") ? "1" : "0"}`,
      revoked.code,
      await expiredInvitation(organization),
      ofGone.code,
      user.token,
      revoked.link,
      "",
      "x",
    ];
    for (const code of codes) {
      const { body } = await user.client.refused("AcceptInvitation", "NotFoundError", accept(code));
      bodies.push(JSON.stringify({ ...body, requestId: "" }));
    }
    expect(new Set(bodies).size).toBe(1);
    await user.client.bind({ organizationId: organization.organizationId }).refused("GetOrganization", "NotFoundError");
  });

  test("an expired invitation is listed as such", async () => {
    const organization = await service.newOrganization();
    await expiredInvitation(organization);
    const { body } = await organization.api.call<{ invitations: object[] }>("ListInvitations");
    expect(body.invitations).toMatchObject([{ status: "expired" }]);
  });

  test("an invitation's code is no credential", async () => {
    const { api } = await service.newOrganization();
    const { code } = await invite(api, { roles: ["owner"] });
    await api.as(code).refused("GetOrganization", "AuthenticationError");
  });

  test("an invitation for an e-mail address can be accepted only by the owner of this address, in any case of letters", async () => {
    const { api, organizationId } = await service.newOrganization();
    const [invited, other] = [await service.newUser(), await service.newUser()];
    const email = `${invited.userId}@EXAMPLE.org`;
    const { code } = await invite(api, { roles: ["viewer"], email });
    const { body } = await other.client.refused("AcceptInvitation", "AuthorizationError", accept(code));
    expect(body.detail.toLowerCase()).not.toContain(invited.userId);
    await invited.client.call("AcceptInvitation", accept(code));
    await invited.client.bind({ organizationId }).call("GetOrganization");
  });

  test("a member cannot accept an invitation, and it stays open for another person", async () => {
    const organization = await service.newOrganization();
    const { code } = await invite(organization.api, { roles: ["owner"] });
    const member = await service.newMember(organization, ["viewer"]);
    await member.client.refused("AcceptInvitation", "ConflictError", accept(code));
    const own = await member.api.call("GetOwnPermissions");
    expect(own.body.roles).toEqual(["viewer"]);
    await (await service.newUser()).client.call("AcceptInvitation", accept(code));
  });

  test("an API token cannot accept an invitation", async () => {
    const { api } = await service.newOrganization();
    const { code } = await invite(api, { roles: ["viewer"] });
    const body = { name: "t", permissions: ["invitation:create"] };
    const { token } = (await api.call<{ token: string }>("CreateApiToken", { body })).body;
    await api.as(token).refused("AcceptInvitation", "AuthorizationError", accept(code));
  });

  test("a member can invite only with permissions of their own", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    await api.call("CreateRole", { body: { name: "inviter", permissions: ["invitation:create"] } });
    const member = await service.newMember(organization, ["developer", "inviter"]);
    for (const roles of [["owner"], ["developer", "operator"]]) {
      await member.api.refused("CreateInvitation", "AuthorizationError", { body: { roles } });
    }
    await invite(member.api, { roles: ["developer", "inviter", "viewer"] });
    const body = { name: "t", permissions: ["invitation:create"] };
    const { token } = (await api.call<{ token: string }>("CreateApiToken", { body })).body;
    await api.as(token).refused("CreateInvitation", "AuthorizationError", { body: { roles: ["viewer"] } });
    await invite(api.as(token), { roles: ["inviter"] });
  });

  test("an invitation gives no permission that its maker lacks when it is accepted", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    await api.call("CreateRole", { body: { name: "grows", permissions: ["job:read"] } });
    const maker = await service.newMember(organization, ["owner"]);
    const body = { name: "t", permissions: ["invitation:create", "job:read"] };
    const token = (await api.call<{ token: string; tokenId: string }>("CreateApiToken", { body })).body;
    const asOwner = await invite(maker.api, { roles: ["owner"] });
    const asViewer = await invite(maker.api, { roles: ["viewer"] });
    const byToken = await invite(api.as(token.token), { roles: ["grows"] });
    const params = { userId: maker.userId };

    await api.call("UpdateMember", { params, body: { roles: ["viewer"] } });
    const user = await service.newUser();
    await user.client.refused("AcceptInvitation", "ConflictError", accept(asOwner.code));
    await api.call("RemoveMember", { params });
    await user.client.refused("AcceptInvitation", "ConflictError", accept(asViewer.code));
    await api.call("UpdateRole", { params: { role: "grows" }, body: { permissions: ["job:read", "job:cancel"] } });
    await user.client.refused("AcceptInvitation", "ConflictError", accept(byToken.code));
    await api.call("UpdateRole", { params: { role: "grows" }, body: { permissions: ["job:read"] } });
    await api.call("RevokeApiToken", { params: { tokenId: token.tokenId } });
    await user.client.refused("AcceptInvitation", "ConflictError", accept(byToken.code));
    await user.client.bind({ organizationId: organization.organizationId }).refused("GetOrganization", "NotFoundError");

    await service.addMember(organization.organizationId, maker.userId, ["viewer"]);
    await user.client.call("AcceptInvitation", accept(asViewer.code));
  });

  test.each([
    ["no roles", { roles: undefined }, "/roles"],
    ["both `roles` and `role`", { role: "viewer" }, "/role"],
    ["one role that does not exist", { roles: undefined, role: "vieweer" }, "/role"],
    ["one role that is a list", { roles: undefined, role: ["viewer"] }, "/role"],
    ["an empty list of roles", { roles: [] }, "/roles"],
    ["a role that does not exist", { roles: ["viewer", "vieweer"] }, "/roles/1"],
    ["an invalid address", { email: "somebody" }, "/email"],
    ["an address with a line break", { email: "a@example.org\nBcc: b@example.org" }, "/email"],
    ["an address of 1,000 characters", { email: `${"x".repeat(990)}@example.org` }, "/email"],
    ["a time that is past", { expiresAt: "2020-01-01T00:00:00Z" }, "/expiresAt"],
    ["a time that is too far away", { expiresAt: new Date(Date.now() + 31 * dayMs).toISOString() }, "/expiresAt"],
    ["an invalid time", { expiresAt: "tomorrow" }, "/expiresAt"],
    ["a field that the caller cannot set", { organizationId: "x" }, "/organizationId"],
  ])("%s is 400 with a pointer, and creates no invitation", async (_name, changes, pointer) => {
    const { api } = await service.newOrganization();
    const body = { roles: ["viewer"], ...changes };
    const { body: problem } = await api.refused("CreateInvitation", "ValidationError", { body });
    expect([...new Set(problem.errors?.map((error) => error.pointer))]).toEqual([pointer]);
    expect((await api.call("ListInvitations")).body).toEqual({ invitations: [] });
  });

  test("invitations are listed page by page, newest first", async () => {
    const { api } = await service.newOrganization();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.unshift((await invite(api, { roles: ["viewer"] })).invitationId);
    const { body } = await api.call<{ invitations: { invitationId: string }[]; nextPageToken: string }>(
      "ListInvitations",
      { query: { pageSize: 3 } },
    );
    expect(body.invitations.map(({ invitationId }) => invitationId)).toEqual(ids.slice(0, 3));
    const query = { pageSize: 3, pageToken: body.nextPageToken };
    const rest = await api.call<{ invitations: { invitationId: string }[] }>("ListInvitations", { query });
    expect(rest.body.invitations.map(({ invitationId }) => invitationId)).toEqual(ids.slice(3));
  });

  test("an organization has as many open invitations as the configuration allows; revoked and expired ones do not count", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    await expiredInvitation(organization);
    const body = { roles: ["viewer"] };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.callAny<NewInvitation>("CreateInvitation", { body })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(5);
    await api.refused("CreateInvitation", "ConflictError", { body });
    await api.call("RevokeInvitation", { params: { invitationId: made[0]?.body.invitationId ?? "" } });
    await invite(api, body);
  });

  test("if many people accept one invitation at the same moment, exactly one becomes a member", async () => {
    const { api } = await service.newOrganization();
    const { code } = await invite(api, { roles: ["viewer"] });
    const users = await Promise.all(Array.from({ length: 12 }, () => service.newUser()));
    const answers = await Promise.all(users.map(({ client }) => client.callAny("AcceptInvitation", accept(code))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(409)]);
    const members = await api.call<{ members: object[] }>("ListMembers");
    expect(members.body.members).toHaveLength(2);
  });

  test("the same key accepts once, and the repetition gets the same answer", async () => {
    const { api } = await service.newOrganization();
    const { code } = await invite(api, { roles: ["viewer"] });
    const { client } = await service.newUser();
    const request = { ...accept(code), headers: { "idempotency-key": "k" } };
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.call("AcceptInvitation", request)));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    const invitation = { roles: ["viewer"] };
    await api.refused("CreateInvitation", "ValidationError", { body: invitation, headers: request.headers });
  });
});
