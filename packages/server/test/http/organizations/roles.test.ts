import { rowsOfRequest } from "@stepwell/testing/audit-rows.ts";
import { said } from "@stepwell/testing/notes.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

interface Role {
  readonly roleId: string;
  readonly name: string;
  readonly isBuiltIn: boolean;
  readonly permissions: readonly string[];
}

interface RoleList {
  readonly roles: readonly Role[];
  readonly nextPageToken?: string;
}

const builtInNames = ["ci", "developer", "operator", "owner", "viewer"];

onOneStore((home) => {
  const service = useService(home, { STEPWELL_MAX_ROLES: "12" });

  test("a role can be created, found, listed with the built-in ones, changed and deleted", async () => {
    const { api, organizationId } = await service.newOrganization();
    const body = { name: "release-manager", description: "Moves tags.", permissions: ["job:read", "workflow:read"] };
    const created = await api.call("CreateRole", { body });
    expect(created.status).toBe(201);
    expect(created.headers.get("location")).toBe(`/organizations/${organizationId}/roles/release-manager`);
    expect(created.body).toMatchObject({ ...body, permissions: ["workflow:read", "job:read"], isBuiltIn: false });
    const params = { role: "release-manager" };
    expect((await api.call("GetRole", { params })).body).toEqual(created.body);
    const list = await api.call<RoleList>("ListRoles");
    expect(list.body.roles.map(({ name }) => name)).toEqual([...builtInNames, "release-manager"].sort());
    expect(list.body.roles.filter(({ isBuiltIn }) => !isBuiltIn)).toEqual([created.body]);

    const changed = await api.call("UpdateRole", { params, body: { description: "", permissions: ["job:list"] } });
    expect(changed.body).toMatchObject({ description: "", permissions: ["job:list"] });
    expect((await api.call("GetRole", { params })).body).toEqual(changed.body);
    expect((await api.call("DeleteRole", { params })).status).toBe(204);
    await api.refused("GetRole", "NotFoundError", { params });
    await api.refused("UpdateRole", "NotFoundError", { params, body: { description: "x" } });
    await api.refused("DeleteRole", "NotFoundError", { params });
  });

  test.each([
    ["no name", { name: undefined }, "/name"],
    ["an empty name", { name: "" }, "/name"],
    ["a name in capitals", { name: "Admin" }, "/name"],
    ["a name that begins with a digit", { name: "1st" }, "/name"],
    ["a name of 65 characters", { name: "x".repeat(65) }, "/name"],
    ["a name with a line break at its end", { name: "admin\n" }, "/name"],
    ["a name from another alphabet", { name: "аdmin" }, "/name"],
    ["a name with `..`", { name: "../owner" }, "/name"],
    ["a name that is SQL", { name: "x'; drop table role; --" }, "/name"],
    ["a built-in role's name", { name: "owner" }, "/name"],
    ["a name that is a number", { name: 1 }, "/name"],
    ["a description of 10,000 characters", { description: "x".repeat(10_000) }, "/description"],
    ["a description with a change of text direction", { description: "a\u202eb" }, "/description"],
    ["a name in the form of an id", { name: "abcdef00-0000-7000-8000-000000000000" }, "/name"],
    ["permissions that are null", { permissions: null }, "/permissions"],
    ["an unknown permission", { permissions: ["job:reed"] }, "/permissions/0"],
    ["every permission at once", { permissions: ["*"] }, "/permissions/0"],
    ["a permission twice", { permissions: ["job:read", "job:read"] }, "/permissions"],
    ["a permission that only users can have", { permissions: ["account:manage"] }, "/permissions/0"],
    ["a field that the caller cannot set", { isBuiltIn: true }, "/isBuiltIn"],
  ])("%s is 400 with a pointer, and creates no role", async (_name, changes, pointer) => {
    const { api } = await service.newOrganization();
    const body = { name: "admin", permissions: ["job:read"], ...changes };
    const { body: problem } = await api.refused("CreateRole", "ValidationError", { body });
    expect(problem.errors?.map((error) => error.pointer)).toEqual([pointer]);
    expect((await api.call<RoleList>("ListRoles")).body.roles).toHaveLength(builtInNames.length);
  });

  test("a role can have the name of an object's inherited member", async () => {
    const { api } = await service.newOrganization();
    for (const name of ["constructor", "prototype", "valueof", "null"]) {
      await api.refused("GetRole", "NotFoundError", { params: { role: name } });
      await api.call("CreateRole", { body: { name, permissions: ["job:read"] } });
      expect((await api.call("GetRole", { params: { role: name } })).body).toMatchObject({ permissions: ["job:read"] });
    }
    for (const role of ["Owner", "__proto__", "a b", "%00", "x".repeat(5_000)]) {
      await api.refused("GetRole", "NotFoundError", { params: { role } });
    }
  });

  test("a name is unique in an organization, and free in every other", async () => {
    const { api } = await service.newOrganization();
    const other = await service.newOrganization();
    const body = { name: "admin", permissions: ["job:read"] };
    await api.call("CreateRole", { body });
    await api.refused("CreateRole", "ConflictError", { body });
    await other.api.call("CreateRole", { body });
  });

  test("a role without permissions permits nothing, and a role can be emptied again", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const { body } = await api.call<Role>("CreateRole", { body: { name: "empty" } });
    expect(body.permissions).toEqual([]);
    const member = await service.newMember(organization, ["empty"]);
    await member.api.refused("ListJobs", "AuthorizationError");
    const params = { role: "empty" };
    await api.call("UpdateRole", { params, body: { permissions: ["job:list"] } });
    await member.api.call("ListJobs");
    expect((await api.call("UpdateRole", { params, body: { permissions: [] } })).body).toEqual({
      ...body,
      updatedAt: expect.any(String),
    });
    await member.api.refused("ListJobs", "AuthorizationError");
  });

  test("every role can be found by its id or its name", async () => {
    const { api } = await service.newOrganization();
    const other = await service.newOrganization();
    const { body: own } = await api.call<Role>("CreateRole", { body: { name: "admin" } });
    for (const { roleId, name } of (await api.call<RoleList>("ListRoles")).body.roles) {
      const byName = await api.call<Role>("GetRole", { params: { role: name } });
      expect(byName.body.roleId).toBe(roleId);
      for (const role of [roleId, roleId.toUpperCase()]) {
        expect((await api.call("GetRole", { params: { role } })).body).toEqual(byName.body);
      }
    }
    const idsOf = async (names: readonly string[], of = api) => {
      const { roles } = (await of.call<RoleList>("ListRoles")).body;
      return roles.filter(({ name }) => names.includes(name)).map(({ roleId }) => roleId);
    };
    expect(await idsOf(builtInNames, other.api)).toEqual(await idsOf(builtInNames));
    const params = { role: own.roleId };
    await other.api.refused("GetRole", "NotFoundError", { params });
    await api.call("UpdateRole", { params, body: { description: "by its id" } });
    await api.call("DeleteRole", { params });
    await api.refused("GetRole", "NotFoundError", { params: { role: "admin" } });
    const { body: again } = await api.call<Role>("CreateRole", { body: { name: "admin" } });
    expect(again.roleId).not.toBe(own.roleId);
  });

  test("a renamed role stays with its members and invitations, under its new name", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const { body: role } = await api.call<Role>("CreateRole", { body: { name: "reader", permissions: ["job:list"] } });
    const member = await service.newMember(organization, ["reader", "ci"]);
    const invited = { params: {}, body: { roles: ["ci", "reader"] } };
    const { body: invitation } = await api.call<{ invitationId: string; code: string }>("CreateInvitation", invited);

    const renamed = await api.call<Role>("UpdateRole", { params: { role: "reader" }, body: { name: "watcher" } });
    expect(renamed.body).toEqual({ ...role, name: "watcher", updatedAt: expect.any(String) });
    expect(await rowsOfRequest(renamed, service)).toMatchObject([
      { target_type: "role", target_id: "reader", details: { name: { from: "reader", to: "watcher" } } },
    ]);
    await api.refused("GetRole", "NotFoundError", { params: { role: "reader" } });

    await member.api.call("ListJobs");
    expect((await api.call("GetMember", { params: { userId: member.userId } })).body).toMatchObject({
      roles: ["watcher", "ci"],
    });
    const params = { invitationId: invitation.invitationId };
    expect((await api.call("GetInvitation", { params })).body).toMatchObject({ roles: ["ci", "watcher"] });
    const guest = await service.newUser();
    const accepted = await guest.client.call("AcceptInvitation", { body: { invitation: invitation.code } });
    expect(accepted.body).toMatchObject({ roles: ["ci", "watcher"] });
    await guest.client.bind({ organizationId: organization.organizationId }).call("ListJobs");
    await api.refused("DeleteRole", "ConflictError", { params: { role: "watcher" } });
  });

  test("a role cannot get a name that is taken, built in, or a former name of another role", async () => {
    const { api } = await service.newOrganization();
    await api.call("CreateRole", { body: { name: "one" } });
    await api.call("CreateRole", { body: { name: "two" } });
    const rename = (role: string, name: string) => ({ params: { role }, body: { name } });
    await api.refused("UpdateRole", "ConflictError", rename("one", "two"));
    const { body } = await api.refused("UpdateRole", "ValidationError", rename("one", "owner"));
    expect(body.errors).toMatchObject([{ pointer: "/name" }]);
    await api.refused("UpdateRole", "ConflictError", rename("owner", "boss"));
    await api.refused("UpdateRole", "ConflictError", rename("00000000-0000-8000-8000-000000000001", "boss"));

    await api.call("UpdateRole", rename("one", "three"));
    for (const [operation, options] of [
      ["CreateRole", { body: { name: "one" } }],
      ["UpdateRole", rename("two", "one")],
    ] as const) {
      const refused = await api.refused(operation, "ConflictError", options);
      expect(refused.body.detail).toContain("`three`");
    }
    await api.call("UpdateRole", rename("three", "one"));
    await api.call("UpdateRole", rename("one", "one"));
    await api.call("DeleteRole", { params: { role: "one" } });
    await api.call("UpdateRole", rename("two", "three"));
    await api.call("CreateRole", { body: { name: "one" } });
  });

  test("a role that was renamed too often keeps its name", async () => {
    const { api } = await service.newOrganization();
    await api.call("CreateRole", { body: { name: "name-0" } });
    const rename = (index: number) => ({ params: { role: `name-${index}` }, body: { name: `name-${index + 1}` } });
    for (let index = 0; index < 20; index += 1) await api.call("UpdateRole", rename(index));
    await api.refused("UpdateRole", "ConflictError", rename(20));
    await api.call("UpdateRole", { params: { role: "name-20" }, body: { name: "name-3" } });
  });

  test("if two roles get one name at the same moment, one keeps it, and no member loses a role", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const names = ["a", "b", "c", "d"];
    for (const name of names) await api.call("CreateRole", { body: { name, permissions: ["job:list"] } });
    const member = await service.newMember(organization, names);
    const answers = await Promise.all(
      names.map((role) => api.callAny("UpdateRole", { params: { role }, body: { name: "wanted" } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const { roles } = (await api.call<RoleList>("ListRoles")).body;
    const own = roles.filter(({ isBuiltIn }) => !isBuiltIn).map(({ name }) => name);
    const { body } = await api.call<{ roles: string[] }>("GetMember", { params: { userId: member.userId } });
    expect(body.roles.sort()).toEqual(own.sort());
    expect(own).toContain("wanted");
  });

  test("the same idempotency key creates one role", async () => {
    const { api } = await service.newOrganization();
    const request = { body: { name: "admin", permissions: ["job:read"] }, headers: { "idempotency-key": "k" } };
    const first = await api.call("CreateRole", request);
    expect((await api.call("CreateRole", request)).body).toEqual(first.body);
  });

  test("a first answer that an earlier release stored without an id is completed", async () => {
    const { api, organizationId } = await service.newOrganization();
    const request = { body: { name: "admin" }, headers: { "idempotency-key": "k" } };
    const first = await api.call("CreateRole", request);
    const earlier = "UPDATE idempotency_key SET answer = (answer::jsonb - 'roleId')::json WHERE organization_id = $1";
    await service.running.database.query(said(earlier), [organizationId]);
    expect((await api.call("CreateRole", request)).body).toEqual(first.body);
    await api.call("DeleteRole", { params: { role: "admin" } });
    await service.running.database.query(said(earlier), [organizationId]);
    await api.refused("CreateRole", "NotFoundError", request);
  });

  test("a built-in role cannot be changed", async () => {
    const { api } = await service.newOrganization();
    for (const role of builtInNames) {
      const params = { role };
      await api.refused("UpdateRole", "ConflictError", { params, body: { permissions: ["job:read"] } });
      await api.refused("DeleteRole", "ConflictError", { params });
      expect((await api.call("GetRole", { params })).body).toMatchObject({ name: role, isBuiltIn: true });
    }
  });

  test("a caller cannot add to a role, or remove from it, permissions that they lack", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const permissions = ["role:create", "role:update", "role:delete", "job:read"];
    await api.call("CreateRole", { body: { name: "roles-only", permissions } });
    await api.call("CreateRole", { body: { name: "strong", permissions: ["job:read", "job:cancel"] } });
    await api.call("CreateRole", { body: { name: "weak", permissions: ["job:read"] } });
    const member = await service.newMember(organization, ["roles-only"]);
    const lacks = async (operation: string, role: string, body?: object) => {
      const options = { params: { role }, ...(body !== undefined && { body }) };
      const { body: problem } = await member.api.refused(operation, "AuthorizationError", options);
      expect(problem.detail).toContain("job:cancel");
    };
    await lacks("CreateRole", "", { name: "new", permissions: ["job:cancel"] });
    await lacks("UpdateRole", "weak", { permissions: ["job:read", "job:cancel"] });
    await lacks("UpdateRole", "strong", { permissions: ["job:read"] });
    await lacks("UpdateRole", "strong", { description: "d" });
    await lacks("UpdateRole", "roles-only", { permissions: [...permissions, "job:cancel"] });
    await lacks("DeleteRole", "strong");
    await member.api.call("UpdateRole", { params: { role: "weak" }, body: { permissions: ["role:create"] } });
    await member.api.call("DeleteRole", { params: { role: "weak" } });
  });

  test("a changed role takes effect at once for its members", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    await api.call("CreateRole", { body: { name: "reader", permissions: ["job:list"] } });
    const member = await service.newMember(organization, ["reader"]);
    await member.api.call("ListJobs");
    await member.api.refused("ListWorkflows", "AuthorizationError");
    await api.call("UpdateRole", { params: { role: "reader" }, body: { permissions: ["workflow:create"] } });
    await member.api.refused("ListJobs", "AuthorizationError");
    await member.api.call("ListWorkflows");
  });

  test("a role cannot be deleted while a member has it or an open invitation gives it", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    await api.call("CreateRole", { body: { name: "reader", permissions: ["job:list"] } });
    const params = { role: "reader" };
    const { userId } = await service.newMember(organization, ["viewer", "reader"]);
    await api.refused("DeleteRole", "ConflictError", { params });
    await api.call("RemoveMember", { params: { userId } });
    const { body } = await api.call<{ invitationId: string }>("CreateInvitation", { body: { roles: ["reader"] } });
    await api.refused("DeleteRole", "ConflictError", { params });
    await api.call("RevokeInvitation", { params: { invitationId: body.invitationId } });
    await api.call("DeleteRole", { params });
    await api.refused("CreateInvitation", "ValidationError", { body: { roles: ["reader"] } });
  });

  test("an organization gets at most as many roles as the configuration allows, even if they are requested at the same time", async () => {
    const { api } = await service.newOrganization();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        api.callAny("CreateRole", { body: { name: `role-${index}`, permissions: ["job:read"] } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(12).fill(201), ...Array(8).fill(409)]);
    const names: string[] = [];
    let pageToken: string | undefined;
    do {
      const query = { pageSize: 3, ...(pageToken !== undefined && { pageToken }) };
      const { body } = await api.call<RoleList>("ListRoles", { query });
      names.push(...body.roles.map(({ name }) => name));
      pageToken = body.nextPageToken;
    } while (pageToken !== undefined);
    expect(names).toHaveLength(12 + builtInNames.length);
    expect(names).toEqual([...new Set(names)].sort());
    const params = { role: names.find((name) => name.startsWith("role-")) ?? "" };
    await api.call("DeleteRole", { params });
    await api.call("CreateRole", { body: { name: "one-more", permissions: ["job:read"] } });
  });
});
