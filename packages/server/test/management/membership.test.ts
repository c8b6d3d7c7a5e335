import { randomUUID } from "node:crypto";
import { type AuditRow, ask } from "@stepwell/testing/audit-rows.ts";
import { testSecrets } from "@stepwell/testing/service.ts";
import { onOneStore, type PreparedStore } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ExternalClaims } from "../../src/auth/external/claims.ts";
import type { ExternalProvider } from "../../src/auth/external/provider.ts";
import { PasswordSignIn } from "../../src/auth/passwords/password-sign-in.ts";
import { type Permission, signedInPermissions } from "../../src/auth/permissions/permissions.ts";
import { readConfig } from "../../src/config.ts";
import { newId } from "../../src/engine/identifier.ts";
import type { Act, CallerAct, RevokingParts } from "../../src/management/act/act.ts";
import { admit } from "../../src/management/membership/admission.ts";
import { acceptInvitation } from "../../src/management/membership/invitation-acceptance.ts";
import { type JoinedNewcomer, joinAsNewcomer } from "../../src/management/membership/newcomer.ts";
import { createInvitation } from "../../src/management/organizations/invitations.ts";
import { leaveOrganization, removeMember, updateMember } from "../../src/management/organizations/members.ts";
import { insertOwnedOrganization } from "../../src/management/organizations/organizations.ts";
import { openStore } from "../../src/open-store.ts";
import { findMember } from "../../src/store/access/members.ts";
import { findUserByEmail, insertUser } from "../../src/store/people/users.ts";

/** Changes of memberships without HTTP. Each change gets only a store, a clock and an act. */
onOneStore((home) => {
  let store: PreparedStore;
  let parts: RevokingParts;
  let forgotten = 0;

  beforeAll(async () => {
    store = await home.prepare();
    const config = readConfig(store.environment);
    const engine = { now: () => Date.now(), newId: () => newId(Date.now()) };
    const authenticator = {
      forgetToken() {},
      forgetUser: () => (forgotten += 1),
      forgetMembership: () => (forgotten += 1),
      forgetOrganization: () => (forgotten += 1),
    };
    parts = { database: await openStore(config), engine, config, authenticator };
  });

  afterAll(async () => {
    await parts.database.close();
    await store.remove();
  });

  test("an organization that the service itself makes has an owner, and the audit trail names the service and the owner", async () => {
    const ownerId = await newUser();
    const organizationId = await newOrganization(ownerId);

    expect(await rolesOf(organizationId, ownerId)).toEqual(["owner"]);
    const [entry] = await entriesOf(organizationId, "CreateOrganization");
    expect(entry).toMatchObject({ actor: { type: "service", id: "test" }, details: { owner: ownerId } });
  });

  test("an invitation can be accepted by an act without a signed-in request", async () => {
    const { organizationId, code } = await newInvitation(["viewer"]);
    const userId = await newUser();

    const accepted = await acceptInvitation(parts, actOf(userId, "AcceptInvitation"), code);

    expect(accepted).toEqual({ organizationId, roles: ["viewer"] });
    expect(await rolesOf(organizationId, userId)).toEqual(["viewer"]);
    const [entry] = await entriesOf(organizationId, "AcceptInvitation");
    expect(entry).toMatchObject({ actor: { type: "user", id: userId }, details: { roles: ["viewer"] } });
  });

  test("an invitation creates one member and one audit entry, however many accept it at the same moment", async () => {
    const { organizationId, code } = await newInvitation(["viewer"]);
    const userIds = await Promise.all([newUser(), newUser(), newUser()]);

    const attempts = await Promise.allSettled(
      userIds.map((userId) => acceptInvitation(parts, actOf(userId, "AcceptInvitation"), code)),
    );

    const rejected = attempts.filter((attempt) => attempt.status === "rejected").map(({ reason }) => reason.code);
    expect(rejected).toEqual(["ConflictError", "ConflictError"]);
    expect(await entriesOf(organizationId, "AcceptInvitation")).toHaveLength(1);
  });

  test("the audit trail names a new user by the account that the invitation created", async () => {
    const { organizationId, code } = await newInvitation(["viewer"]);
    const email = `${randomUUID()}@example.org`;

    expect(await join(code, email)).toBeDefined();

    const user = await findUserByEmail(parts.database, email);
    expect(await rolesOf(organizationId, user?.userId ?? "")).toEqual(["viewer"]);
    const [entry] = await entriesOf(organizationId, "AcceptInvitation");
    expect(entry?.actor).toEqual({ type: "user", id: user?.userId, name: "A newcomer" });
  });

  test("a new user whose inviter cannot grant the roles any more gets neither a membership nor an account", async () => {
    const { organizationId, ownerId, code } = await newInvitation(["viewer"]);
    const email = `${randomUUID()}@example.org`;
    const other = await newInvitation(["owner"], { organizationId, ownerId });
    const secondOwnerId = await newUser();
    await acceptInvitation(parts, actOf(secondOwnerId, "AcceptInvitation"), other.code);
    const inviter = { organizationId, userId: ownerId };
    await removeMember(parts, callerActOf(secondOwnerId, "RemoveMember", "member:remove"), inviter);

    await expect(join(code, email)).rejects.toMatchObject({ code: "ConflictError" });

    expect(await findUserByEmail(parts.database, email)).toBeUndefined();
    expect(await entriesOf(organizationId, "AcceptInvitation")).toHaveLength(1);
  });

  test("the last owner can neither leave, nor be removed, nor lose the role", async () => {
    const ownerId = await newUser();
    const organizationId = await newOrganization(ownerId);
    const owner = { organizationId, userId: ownerId };
    const lastOwner = { code: "ConflictError", message: expect.stringContaining("last owner") };

    await expect(leaveOrganization(parts, actOf(ownerId, "LeaveOrganization"), organizationId)).rejects.toMatchObject(
      lastOwner,
    );
    const removal = callerActOf(ownerId, "RemoveMember", "member:remove");
    await expect(removeMember(parts, removal, owner)).rejects.toMatchObject(lastOwner);
    const change = callerActOf(ownerId, "UpdateMember", "member:update");
    await expect(updateMember(parts, change, owner, ["viewer"])).rejects.toMatchObject(lastOwner);

    expect(await rolesOf(organizationId, ownerId)).toEqual(["owner"]);
  });

  test("if two owners leave at the same moment, one stays", async () => {
    const { organizationId, ownerId, code } = await newInvitation(["owner"]);
    const secondOwnerId = await newUser();
    await acceptInvitation(parts, actOf(secondOwnerId, "AcceptInvitation"), code);

    const left = await Promise.allSettled(
      [ownerId, secondOwnerId].map((userId) =>
        leaveOrganization(parts, actOf(userId, "LeaveOrganization"), organizationId),
      ),
    );

    expect(left.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await entriesOf(organizationId, "LeaveOrganization")).toHaveLength(1);
  });

  test("an identity provider cannot take the role from the last owner, but can when there is another owner", async () => {
    const ownerId = await newUser();
    const organizationId = await newOrganization(ownerId);
    const provider = { ...anyProvider, organizationId, emailDomains: [`${organizationId}.test`] };
    const claims = { ...anyClaims, subject: randomUUID(), email: `anna@${organizationId}.test` };
    const kept: string[] = [];
    const admissionParts = { ...parts, onChanged() {}, onLastOwnerKept: (_: unknown, id: string) => kept.push(id) };
    const signIn = async (roleValues: readonly string[]) => {
      const source = { requestId: "", address: "192.0.2.1" };
      const admission = await admit(admissionParts, provider, { ...claims, roleValues }, source);
      if (admission.outcome === "rejected") throw new Error(admission.reason);
      return admission.userId;
    };
    const userId = await signIn(["owners"]);
    await leaveOrganization(parts, actOf(ownerId, "LeaveOrganization"), organizationId);

    await signIn(["viewers"]);
    expect({ kept, roles: await rolesOf(organizationId, userId) }).toEqual({
      kept: [userId],
      roles: ["viewer", "owner"],
    });

    const { code } = await newInvitation(["owner"], { organizationId, ownerId: userId });
    await acceptInvitation(parts, actOf(ownerId, "AcceptInvitation"), code);
    await signIn(["viewers"]);
    expect(await rolesOf(organizationId, userId)).toEqual(["viewer"]);
  });

  test("a person from a provider is rejected while members and open invitations fill the organization, and is admitted when a place is free", async () => {
    const { organizationId, ownerId, code } = await newInvitation(["viewer"]);
    const provider = { ...anyProvider, organizationId, emailDomains: [`${organizationId}.test`] };
    const claims = { ...anyClaims, subject: randomUUID(), email: `anna@${organizationId}.test` };
    const signIn = (maxMembers: number) => {
      const config = { ...parts.config, maxMembers };
      const admissionParts = { ...parts, config, onChanged() {}, onLastOwnerKept() {} };
      const source = { requestId: "", address: "192.0.2.1" };
      return admit(admissionParts, provider, { ...claims, roleValues: ["viewers"] }, source);
    };

    expect(await signIn(2)).toEqual({ outcome: "rejected", reason: "no-room" });
    expect(await findUserByEmail(parts.database, claims.email)).toBeUndefined();
    const admitted = await signIn(3);
    expect(admitted).toMatchObject({ outcome: "admitted" });

    const full = { ...parts, config: { ...parts.config, maxMembers: 2 } };
    await expect(acceptInvitation(full, actOf(await newUser(), "AcceptInvitation"), code)).rejects.toMatchObject({
      code: "ConflictError",
      message: expect.stringContaining("at most 2 members"),
    });
    // Existing members stay members when the maximum is reached.
    expect(await signIn(1)).toMatchObject({ outcome: "admitted" });
    expect(await rolesOf(organizationId, ownerId)).toEqual(["owner"]);
  });

  async function newUser(): Promise<string> {
    const userId = parts.engine.newId();
    const email = `${userId}@example.org`;
    await insertUser(parts.database, { userId, email, displayName: "A user", createdAt: parts.engine.now() });
    return userId;
  }

  async function newOrganization(ownerId: string): Promise<string> {
    const organizationId = parts.engine.newId();
    const names = { name: "Acme", displayName: "Acme" };
    const organization = { ...names, organizationId, ownerId, createdAt: parts.engine.now() };
    await parts.database.transaction((transaction) =>
      insertOwnedOrganization(transaction, parts.engine, serviceAct, organization),
    );
    return organizationId;
  }

  /** Lets the owner of the organization `from`, or else of a new organization, create an invitation to it. */
  async function newInvitation(roles: readonly string[], from?: { organizationId: string; ownerId: string }) {
    const ownerId = from?.ownerId ?? (await newUser());
    const organizationId = from?.organizationId ?? (await newOrganization(ownerId));
    const act = callerActOf(ownerId, "CreateInvitation", "invitation:create");
    const { code } = await createInvitation(parts, act, { organizationId, roles, email: null });
    return { organizationId, ownerId, code };
  }

  async function join(code: string, email: string): Promise<JoinedNewcomer | undefined> {
    const { database, engine } = parts;
    const signIn = new PasswordSignIn({ database, ...engine, secrets: testSecrets() });
    const act = { operation: "AcceptInvitation", requestId: "", address: "192.0.2.2" };
    const newcomer = { code, email, displayName: "A newcomer", password: "a long enough password" };
    return await joinAsNewcomer({ ...parts, signIn }, act, newcomer);
  }

  async function rolesOf(organizationId: string, userId: string): Promise<readonly string[] | undefined> {
    return (await findMember(parts.database, organizationId, userId))?.roles;
  }

  async function entriesOf(organizationId: string, action: string): Promise<AuditRow[]> {
    const text = "SELECT * FROM audit_entry WHERE organization_id = $1 AND action = $2";
    return await ask<AuditRow>(parts.database, text, organizationId, action);
  }
});

const serviceAct: Act = {
  actor: { type: "service", id: "test" },
  operation: "CreateOrganization",
  requestId: "",
  address: "",
};

function actOf(userId: string, operation: string): Act {
  return { ...serviceAct, actor: { type: "user", id: userId, name: "A user" }, operation };
}

function callerActOf(userId: string, operation: string, permission: Permission): CallerAct {
  const principal = { type: "user", id: userId, name: "A user" } as const;
  const caller = { principal, organizationId: undefined, permissions: signedInPermissions };
  const without = { repetition: undefined, precondition: undefined };
  return { ...serviceAct, actor: principal, operation, caller, permission, ...without };
}

const anyProvider: Omit<ExternalProvider, "organizationId" | "emailDomains"> = {
  id: "acme",
  name: "Acme",
  issuer: "https://acme.test",
  clientId: "c",
  clientSecret: undefined,
  scopes: ["openid"],
  trustsEmail: false,
  roleClaim: "groups",
  roles: new Map([
    ["owners", ["owner"]],
    ["viewers", ["viewer"]],
  ]),
  defaultRoles: [],
  bearerAudience: undefined,
};

const anyClaims: Omit<ExternalClaims, "subject" | "email" | "roleValues"> = {
  issuer: "https://acme.test",
  name: "Anna",
};
