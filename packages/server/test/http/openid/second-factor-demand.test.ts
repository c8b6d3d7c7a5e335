import { rowsOfRequest } from "@stepwell/testing/audit-rows.ts";
import type { Client } from "@stepwell/testing/client.ts";
import { useSingleSignOn } from "@stepwell/testing/identities/single-sign-on-world.ts";
import { codeOf, giveSecondFactor, newPerson, newSignedInPerson, rightPassword } from "@stepwell/testing/people.ts";
import { type TestMember, type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { signIn } from "@stepwell/testing/sign-in.ts";
import { secondWithSlackMs } from "@stepwell/testing/soon.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { hashAlone } from "../../../src/auth/passwords/password-hasher.ts";
import { setPassword } from "../../../src/store/people/user-credentials.ts";

const demand = { body: { requiresSecondFactor: true } };
const whatToDo = /requires a second factor.*StartSecondFactor, then ConfirmSecondFactor/;

onOneStore((home) => {
  const service = useService(home);

  /** Makes an organization that demands a second factor, with an owner who has one. */
  async function newDemandingOrganization(): Promise<TestOrganization> {
    const organization = await service.newOrganization();
    await giveFactor(organization.owner.userId);
    await organization.api.call("UpdateOrganization", demand);
    return organization;
  }

  async function giveFactor(userId: string): Promise<void> {
    await giveSecondFactor(service, { userId, email: `${userId}@example.org` });
  }

  async function expectRefused(api: Client): Promise<void> {
    for (const operation of ["GetOrganization", "ListWorkflows", "GetOwnPermissions", "ListMembers"]) {
      const { body } = await api.refused(operation, "AuthorizationError");
      expect(body.detail).toMatch(whatToDo);
    }
  }

  test("the requirement is off by default, and a member without a second factor works as usual", async () => {
    const organization = await service.newOrganization();
    const member = await service.newMember(organization, ["viewer"]);
    expect((await organization.api.call("GetOrganization")).body).toMatchObject({ requiresSecondFactor: false });
    await member.api.call("ListWorkflows");
  });

  test("a user token of an account without a second factor is rejected in that organization at once, and works in others", async () => {
    const organization = await service.newOrganization();
    const member = await service.newMember(organization, ["developer"]);
    await member.api.call("ListWorkflows");
    await giveFactor(organization.owner.userId);
    const { body } = await organization.api.call("UpdateOrganization", demand);
    expect(body).toMatchObject({ requiresSecondFactor: true });

    await expectRefused(member.api);
    await organization.api.call("ListWorkflows");
    await member.client.call("GetAccount");
    const listed = await member.client.call<{ organizations: object[] }>("ListOrganizations");
    const { organizationId } = organization;
    expect(listed.body.organizations).toMatchObject([{ organizationId, requiresSecondFactor: true }]);
    await (await service.newOrganization(member)).api.call("ListWorkflows");
  });

  test("a sign-in session of an account without a second factor is rejected in that organization", async () => {
    const organization = await newDemandingOrganization();
    const person = await newPerson(service);
    await service.addMember(organization.organizationId, person.userId, ["developer"]);
    const { idToken } = await signIn(service.baseUrl, person);
    await expectRefused(organization.api.as(idToken));
  });

  test("a member who follows the error's instructions gets access at once, and loses it when the second factor is turned off", async () => {
    const organization = await newDemandingOrganization();
    const person = await newSignedInPerson(service);
    await service.addMember(organization.organizationId, person.userId, ["developer"]);
    const api = organization.api.as(person.token);
    await expectRefused(api);
    const proof = { password: rightPassword };
    const { body } = await person.client.call<{ secret: string }>("StartSecondFactor", { body: proof });
    await expectRefused(api);
    const code = codeOf(body.secret, service.running.engine.now());
    const confirmed = await person.client.call<{ recoveryCodes: string[] }>("ConfirmSecondFactor", { body: { code } });
    await api.call("ListWorkflows");
    const [recoveryCode] = confirmed.body.recoveryCodes;
    await person.client.call("DisableSecondFactor", { body: { ...proof, code: recoveryCode }, status: 204 });
    await expectRefused(api);
  });

  test("the organization's API tokens continue to work", async () => {
    const organization = await newDemandingOrganization();
    const body = { name: "t", permissions: ["workflow:read"] };
    const { token } = (await organization.api.call<{ token: string }>("CreateApiToken", { body })).body;
    await organization.api.as(token).call("ListWorkflows");
  });

  test("a user without a second factor cannot require one, whatever their permissions", async () => {
    const { api } = await service.newOrganization();
    const { body } = await api.refused("UpdateOrganization", "ConflictError", demand);
    expect(body.detail).toContain("you would lose your own access");
    expect((await api.call("GetOrganization")).body).toMatchObject({ requiresSecondFactor: false });
  });

  test("an API token cannot require a second factor, and a member needs the permission that changes the organization", async () => {
    const organization = await service.newOrganization();
    await giveFactor(organization.owner.userId);
    const token = { name: "t", permissions: ["organization:update", "organization:read"] };
    const { body } = await organization.api.call<{ token: string }>("CreateApiToken", { body: token });
    await organization.api.as(body.token).refused("UpdateOrganization", "AuthorizationError", demand);
    const developer = await service.newMember(organization, ["developer"]);
    await giveFactor(developer.userId);
    await developer.api.refused("UpdateOrganization", "AuthorizationError", demand);
    expect((await organization.api.call("GetOrganization")).body).toMatchObject({ requiresSecondFactor: false });
  });

  test("the requirement can be turned off, both changes are in the audit trail, and renaming the organization does not change the requirement", async () => {
    const organization = await service.newOrganization();
    const member: TestMember = await service.newMember(organization, ["viewer"]);
    await giveFactor(organization.owner.userId);
    const on = await organization.api.call("UpdateOrganization", demand);
    await organization.api.call("UpdateOrganization", { body: { displayName: "Another name" } });
    await expectRefused(member.api);
    const off = await organization.api.call("UpdateOrganization", { body: { requiresSecondFactor: false } });
    await member.api.call("ListWorkflows");
    const changes = [await rowsOfRequest(on, service), await rowsOfRequest(off, service)];
    expect(changes).toMatchObject([
      [{ action: "UpdateOrganization", details: { requiresSecondFactor: { from: false, to: true } } }],
      [{ action: "UpdateOrganization", details: { requiresSecondFactor: { from: true, to: false } } }],
    ]);
  });

  test("a person without a second factor can join by an invitation, and is told what to do before they can work", async () => {
    const organization = await newDemandingOrganization();
    const { body } = await organization.api.call<{ code: string }>("CreateInvitation", { body: { roles: ["viewer"] } });
    const newcomer = await service.newUser();
    await newcomer.client.call("AcceptInvitation", { body: { invitation: body.code } });
    await expectRefused(organization.api.as(newcomer.token));
    await giveFactor(newcomer.userId);
    await expect
      .poll(async () => (await organization.api.as(newcomer.token).callAny("ListWorkflows", {})).status, {
        timeout: secondWithSlackMs,
      })
      .toBe(200);
  });
});

onOneStore((home) => {
  const world = useSingleSignOn(home);

  test("a sign-in and tokens from an external identity provider count as a second factor, and a password of the same account does not", async () => {
    const { service, acmeOrganizationId: organizationId } = world;
    const owner = await world.newOwner();
    await giveSecondFactor(service, { userId: owner.userId, email: `${owner.userId}@example.org` });
    await owner.api.call("UpdateOrganization", demand);

    const { login } = await world.newPersonAt("acme");
    const { tokens } = await world.signIn("acme", login, { prompt: "login" });
    const vouched = service.client(tokens?.id_token, { organizationId });
    await vouched.call("ListWorkflows");
    const { body } = await vouched.call<{ token: string }>("CreateUserToken", { body: { name: "t" } });
    const byToken = service.client(body.token, { organizationId });
    await byToken.call("ListWorkflows");

    // The account now gets a password, and with that alone it can be opened. So the organization rejects the account's user token. The organization
    // still accepts a session that began with a sign-in at the issuer.
    const userId = tokens?.claims()?.sub ?? "";
    const { database, engine } = service.running;
    await setPassword(database, userId, await hashAlone(rightPassword), engine.now());
    await expect
      .poll(async () => (await byToken.callAny("ListWorkflows", {})).status, { timeout: secondWithSlackMs })
      .toBe(403);
    await vouched.call("ListWorkflows");
  });
});
