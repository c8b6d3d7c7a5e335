import { rowsOfRequest } from "@stepwell/testing/audit-rows.ts";
import type { Client } from "@stepwell/testing/client.ts";
import { type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { builtInRoles, grantablePermissions } from "../../../src/auth/permissions/permissions.ts";
import { findMember } from "../../../src/store/access/members.ts";
import { listOrganizationIdsOfUser } from "../../../src/store/access/organizations.ts";

interface MemberList {
  readonly members: readonly { readonly userId: string; readonly roles: readonly string[] }[];
  readonly nextPageToken?: string;
}

onOneStore((home) => {
  const service = useService(home);

  async function rolesOf({ api }: TestOrganization, userId: string): Promise<unknown> {
    return (await api.call("GetMember", { params: { userId } })).body.roles;
  }

  test("the creator of an organization is its owner and first member", async () => {
    const { api, owner } = await service.newOrganization();
    const { body } = await api.call("GetMember", { params: { userId: owner.userId } });
    expect(body).toMatchObject({
      userId: owner.userId,
      email: `${owner.userId}@example.org`,
      displayName: "A user",
      roles: ["owner"],
    });
    const { apiTokenCount, ...member } = body;
    expect(apiTokenCount).toBe(0);
    expect((await api.call("ListMembers")).body).toEqual({ members: [member] });
    const own = await api.call("GetOwnPermissions");
    expect(own.body).toEqual({ permissions: grantablePermissions, roles: ["owner"] });
  });

  test("members are listed in pages and by role, each once", async () => {
    const organization = await service.newOrganization();
    const { api, owner } = organization;
    const viewers: string[] = [];
    for (let count = 0; count < 5; count += 1) viewers.push((await service.newMember(organization, ["viewer"])).userId);
    const seen: string[] = [];
    let pageToken: string | undefined;
    do {
      const query = { pageSize: 2, ...(pageToken !== undefined && { pageToken }) };
      const { body } = await api.call<MemberList>("ListMembers", { query });
      seen.push(...body.members.map(({ userId }) => userId));
      pageToken = body.nextPageToken;
    } while (pageToken !== undefined);
    expect(seen).toEqual([owner.userId, ...viewers].sort());
    const { body } = await api.call<MemberList>("ListMembers", { query: { role: "viewer" } });
    expect(body.members.map(({ userId }) => userId)).toEqual([...viewers].sort());
    expect((await api.call<MemberList>("ListMembers", { query: { role: "nobody" } })).body.members).toEqual([]);
    await api.refused("ListMembers", "ValidationError", { query: { role: "No Role" } });
  });

  test("a member has the permissions of all of their roles together, and a change takes effect at once", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const member = await service.newMember(organization, ["ci", "viewer"]);
    await member.api.call("ListMembers");
    await member.api.call("RegisterWorkflow", { body: { name: "w" } });
    await api.call("UpdateMember", { params: { userId: member.userId }, body: { roles: ["viewer"] } });
    await member.api.call("ListMembers");
    await member.api.refused("RegisterWorkflow", "AuthorizationError", { body: { name: "v" } });
    await api.call("RemoveMember", { params: { userId: member.userId } });
    await member.api.refused("ListMembers", "NotFoundError");
    await api.refused("GetMember", "NotFoundError", { params: { userId: member.userId } });
    await api.refused("RemoveMember", "NotFoundError", { params: { userId: member.userId } });
  });

  test("every built-in role permits exactly what is documented", async () => {
    const organization = await service.newOrganization();
    const { body } = await organization.api.call<{ roles: { name: string; permissions: string[] }[] }>("ListRoles");
    expect(body.roles.map(({ name }) => name)).toEqual([...builtInRoles.keys()].sort());
    for (const { name, permissions } of body.roles) {
      const { api } = await service.newMember(organization, [name]);
      const own = await api.call<{ permissions: string[] }>("GetOwnPermissions");
      expect(own.body.permissions).toEqual(expect.arrayContaining(permissions));
      const check = await api.call("CheckPermissions", { body: { permissions: grantablePermissions } });
      const expected = Object.fromEntries(grantablePermissions.map((one) => [one, own.body.permissions.includes(one)]));
      expect(check.body).toEqual({ allowed: expected, all: name === "owner" });
    }
  });

  test("a role cannot have a permission that does not exist", async () => {
    const { api } = await service.newOrganization();
    const body = { permissions: ["job:read", "job:reed"] };
    const { body: problem } = await api.refused("CheckPermissions", "ValidationError", { body });
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(["/permissions/1"]);
  });

  test("the permissions of an API token are listed, and a token has no roles", async () => {
    const { api } = await service.newOrganization();
    const body = { name: "t", permissions: ["job:list"] };
    const { token } = (await api.call<{ token: string }>("CreateApiToken", { body })).body;
    expect((await api.as(token).call("GetOwnPermissions")).body).toEqual({ permissions: ["job:read", "job:list"] });
    await api.as(token).refused("LeaveOrganization", "AuthorizationError");
  });

  test.each([
    ["no roles", { roles: [] }, "/roles"],
    ["a role twice", { roles: ["viewer", "viewer"] }, "/roles"],
    ["a role that does not exist", { roles: ["viewer", "vieweer"] }, "/roles/1"],
    ["a role with the name of a built-in one in capitals", { roles: ["Owner"] }, "/roles/0"],
    ["a role with the name of an object's inherited member", { roles: ["constructor"] }, "/roles/0"],
    ["21 roles", { roles: Array.from({ length: 21 }, (_, index) => `role-${index}`) }, "/roles"],
    ["roles that are no list", { roles: "owner" }, "/roles"],
    ["a field that the caller cannot set", { roles: ["viewer"], userId: "x" }, "/userId"],
  ])("%s is 400 with a pointer, and changes nothing", async (_name, body, pointer) => {
    const organization = await service.newOrganization();
    const { userId } = await service.newMember(organization, ["ci"]);
    const { body: problem } = await organization.api.refused("UpdateMember", "ValidationError", {
      params: { userId },
      body,
    });
    expect(problem.errors?.map((error) => error.pointer)).toEqual([pointer]);
    expect(await rolesOf(organization, userId)).toEqual(["ci"]);
  });

  test("a member with all of a developer's permissions and those over members still cannot create or demote an owner", async () => {
    const organization = await service.newOrganization();
    const { api, owner } = organization;
    const permissions = ["member:read", "member:update", "member:remove", "role:update"];
    await api.call("CreateRole", { body: { name: "people", permissions } });
    const schemer = await service.newMember(organization, ["developer", "people"]);
    const friend = await service.newMember(organization, ["viewer"]);
    const change = async (userId: string, roles: string[]) =>
      (await schemer.api.callAny("UpdateMember", { params: { userId }, body: { roles } })).status;

    expect(await change(schemer.userId, ["owner"])).toBe(403);
    expect(await change(schemer.userId, ["developer", "people", "owner"])).toBe(403);
    expect(await change(friend.userId, ["owner"])).toBe(403);
    expect(await change(friend.userId, ["operator"])).toBe(403);
    expect(await change(owner.userId, ["viewer"])).toBe(403);
    await schemer.api.refused("RemoveMember", "AuthorizationError", { params: { userId: owner.userId } });
    const more = { params: { role: "people" }, body: { permissions: [...permissions, "organization:delete"] } };
    const { body } = await schemer.api.refused("UpdateRole", "AuthorizationError", more);
    expect(body.detail).toContain("organization:delete");
    expect(await rolesOf(organization, owner.userId)).toEqual(["owner"]);
    expect(await rolesOf(organization, friend.userId)).toEqual(["viewer"]);

    expect(await change(friend.userId, ["developer"])).toBe(200);
    expect(await change(schemer.userId, ["developer"])).toBe(200);
    expect(await change(schemer.userId, ["developer", "people"])).toBe(403);
  });

  test("a token that can change members gives no permission that it lacks itself", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const { userId } = await service.newMember(organization, ["ci"]);
    const body = { name: "t", permissions: ["member:update", "member:remove", "job:read"] };
    const { token } = (await api.call<{ token: string }>("CreateApiToken", { body })).body;
    const roles = { params: { userId }, body: { roles: ["viewer"] } };
    await api.as(token).refused("UpdateMember", "AuthorizationError", roles);
    await api.as(token).refused("RemoveMember", "AuthorizationError", { params: { userId } });
    expect(await rolesOf(organization, userId)).toEqual(["ci"]);
  });

  interface MadeToken {
    readonly tokenId: string;
    readonly token: string;
  }

  async function newToken(api: Client, permissions: readonly string[] = ["job:read"]): Promise<MadeToken> {
    return (await api.call<MadeToken>("CreateApiToken", { body: { name: "t", permissions } })).body;
  }

  async function apiTokenCount({ api }: TestOrganization, userId: string): Promise<unknown> {
    return (await api.call("GetMember", { params: { userId } })).body.apiTokenCount;
  }

  test("API tokens of a removed member continue to work, unless they are revoked with the member", async () => {
    const organization = await service.newOrganization();
    const { api, owner } = organization;
    const leaving = await service.newMember(organization, ["developer"]);
    const { token } = await newToken(leaving.api);
    expect(await apiTokenCount(organization, leaving.userId)).toBe(1);
    await api.call("RemoveMember", { params: { userId: leaving.userId } });
    await api.as(token).call("WhoAmI");
    expect(await apiTokenCount(organization, owner.userId)).toBe(0);
  });

  test("a member can be removed together with the API tokens that they created and the tokens that those created, each with an audit entry", async () => {
    const organization = await service.newOrganization();
    const { api, owner } = organization;
    const leaving = await service.newMember(organization, ["developer"]);
    const maker = await newToken(leaving.api, ["apitoken:create", "job:read"]);
    const middle = await newToken(api.as(maker.token), ["apitoken:create", "job:read"]);
    const last = await newToken(api.as(middle.token));
    const revoked = await newToken(leaving.api);
    for (const { tokenId } of [revoked, middle]) await api.call("RevokeApiToken", { params: { tokenId } });
    const kept = await newToken(api);
    for (const { token } of [maker, last, kept]) await api.as(token).call("WhoAmI");
    expect(await apiTokenCount(organization, leaving.userId)).toBe(2);

    const params = { userId: leaving.userId };
    const removal = await api.call("RemoveMember", { params, query: { revokeApiTokens: true }, status: 204 });

    for (const { token } of [maker, last]) await api.as(token).refused("WhoAmI", "AuthenticationError");
    await api.as(kept.token).call("WhoAmI");
    await leaving.api.refused("ListWorkflows", "NotFoundError");
    const rows = await rowsOfRequest(removal, service);
    const told = rows.map(({ action, target_id: target, details }) => [action, target, details] as const);
    expect(told.toSorted(([, one], [, other]) => String(one).localeCompare(String(other)))).toEqual(
      [
        ["RevokeApiToken", maker.tokenId, expect.objectContaining({ name: "t", madeBy: leaving.userId })],
        ["RevokeApiToken", last.tokenId, expect.objectContaining({ name: "t", madeBy: leaving.userId })],
        ["RemoveMember", leaving.userId, { roles: ["developer"], revokedApiTokenCount: 2 }],
      ].toSorted(([, one], [, other]) => String(one).localeCompare(String(other))),
    );
    expect(rows.every(({ actor_id: actor }) => actor === owner.userId)).toBe(true);
  });

  test("revoking a member's tokens needs the permission to revoke tokens, and all permissions of the tokens", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    await api.call("CreateRole", { body: { name: "people", permissions: ["member:read", "member:remove"] } });
    const revoker = ["member:read", "member:remove", "apitoken:revoke"];
    await api.call("CreateRole", { body: { name: "revoker", permissions: revoker } });
    const former = await service.newMember(organization, ["owner"]);
    const { token } = await newToken(former.api, ["audit:read"]);
    await api.call("UpdateMember", { params: { userId: former.userId }, body: { roles: ["people"] } });
    for (const role of ["people", "revoker"]) {
      const remover = await service.newMember(organization, [role]);
      const options = { params: { userId: former.userId }, query: { revokeApiTokens: true } };
      const { body } = await remover.api.refused("RemoveMember", "AuthorizationError", options);
      expect(body.detail).toContain(role === "people" ? "apitoken:revoke" : "audit:read");
    }
    expect(await rolesOf(organization, former.userId)).toEqual(["people"]);
    await api.as(token).call("WhoAmI");
  });

  test("the last owner cannot be demoted, cannot be removed and cannot leave", async () => {
    const organization = await service.newOrganization();
    const { api, owner } = organization;
    const params = { userId: owner.userId };
    await api.refused("UpdateMember", "ConflictError", { params, body: { roles: ["developer"] } });
    await api.refused("RemoveMember", "ConflictError", { params });
    await api.refused("LeaveOrganization", "ConflictError");
    await api.call("UpdateMember", { params, body: { roles: ["owner", "viewer"] } });

    const second = await service.newMember(organization, ["owner"]);
    expect((await api.call("LeaveOrganization")).status).toBe(204);
    await api.refused("LeaveOrganization", "NotFoundError");
    await second.api.refused("LeaveOrganization", "ConflictError");
  });

  test("a member who leaves has no access to the organization any more, and no longer sees it in their list", async () => {
    const organization = await service.newOrganization();
    const { organizationId } = organization;
    const member = await service.newMember(organization, ["viewer"]);
    const listed = await member.client.call<{ organizations: object[] }>("ListOrganizations");
    expect(listed.body.organizations).toHaveLength(1);
    await member.api.call("LeaveOrganization");
    await member.api.refused("GetOrganization", "NotFoundError");
    expect((await member.client.call("ListOrganizations")).body).toEqual({ organizations: [] });
    const { database } = service.running;
    expect(await findMember(database, organizationId, member.userId)).toBeUndefined();
    expect(await listOrganizationIdsOfUser(database, member.userId, null, 10)).toEqual([]);
  });

  test("an organization is in the list of a user if a custom role lets them read it", async () => {
    const organization = await service.newOrganization();
    const body = { name: "reader", permissions: ["organization:read"] };
    await organization.api.call("CreateRole", { body });
    const reader = await service.newMember(organization, ["reader"]);
    const listed = await reader.client.call<{ organizations: object[] }>("ListOrganizations");
    expect(listed.body.organizations).toMatchObject([{ organizationId: organization.organizationId }]);
    const params = { role: "reader" };
    await organization.api.call("UpdateRole", { params, body: { permissions: ["job:read"] } });
    expect((await reader.client.call("ListOrganizations")).body).toEqual({ organizations: [] });
  });

  test("a deleted organization has no members any more", async () => {
    const organization = await service.newOrganization();
    const member = await service.newMember(organization, ["viewer"]);
    await organization.api.call("DeleteOrganization");
    await member.api.refused("GetOwnPermissions", "NotFoundError");
    await member.api.refused("LeaveOrganization", "NotFoundError");
    await organization.api.refused("ListMembers", "NotFoundError");
    expect((await member.client.call("ListOrganizations")).body).toEqual({ organizations: [] });
  });
});
