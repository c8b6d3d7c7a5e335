import { rightPassword } from "@stepwell/testing/people.ts";
import { type TestMember, type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { afterEach, expect, test, vi } from "vitest";
import { hashAlone } from "../../../src/auth/passwords/password-hasher.ts";
import type { Statement } from "../../../src/store/home/database.ts";
import { setPassword } from "../../../src/store/people/user-credentials.ts";

/**
 * A node remembers for a second who sent a credential and what they may do. A change makes it forget everything that the change concerns, and nothing
 * else.
 */
onOneStore((home) => {
  const service = useService(home);
  afterEach(() => vi.restoreAllMocks());

  const lookUps: ReadonlySet<string> = new Set(["find_user_token_by_hash", "find_memberships"]);

  /** Returns the look-ups about this user that the service sends to the store while `work` runs. */
  async function lookUpsOf({ userId }: { readonly userId: string }, work: () => Promise<unknown>): Promise<string[]> {
    const asked = vi.spyOn(service.running.database.requests, "query");
    await work();
    const names = asked.mock.calls.flatMap(([statement, values]) => {
      const { name } = statement as Statement<unknown>;
      return lookUps.has(name) && JSON.stringify(values).includes(userId) ? [name] : [];
    });
    asked.mockRestore();
    return names;
  }

  /**
   * Lets a new member of the organization call, makes the change, and lets the member call again. The service remembers the member's credential for
   * only one second. If all this takes longer, it is tried again with another member.
   */
  async function lookUpsAfter(
    organization: TestOrganization,
    change: (member: TestMember) => Promise<unknown>,
  ): Promise<string[]> {
    for (let tries = 0; tries < 20; tries += 1) {
      const member = await service.newMember(organization, ["viewer"]);
      const began = performance.now();
      await member.api.call("ListWorkflows");
      await change(member);
      const names = await lookUpsOf(member, () => member.api.call("ListWorkflows"));
      if (performance.now() - began < 900) return names;
    }
    throw new Error("No try took less than a second.");
  }

  test("a change of one user does not drop the remembered values of other users", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const member = await service.newMember(organization, ["viewer"]);
    const { database, engine } = service.running;
    const params = { userId: member.userId };
    const passwordHash = await hashAlone(rightPassword);
    const changes: readonly (() => Promise<unknown>)[] = [
      () => member.client.call("UpdateAccount", { body: { displayName: "Another name" } }),
      async () => {
        await setPassword(database, member.userId, passwordHash, engine.now());
        const body = { currentPassword: rightPassword, newPassword: "another long password" };
        await member.client.call("ChangePassword", { body, status: 204 });
      },
      () => api.call("UpdateMember", { params, body: { roles: ["viewer", "ci"] } }),
      () => service.newOrganization(member),
      async () => {
        const { body } = await api.call<{ code: string }>("CreateInvitation", { body: { roles: ["viewer"] } });
        await (await service.newUser()).client.call("AcceptInvitation", { body: { invitation: body.code } });
      },
      async () => {
        const { userId } = await service.newMember(organization, ["viewer"]);
        await api.call("RemoveMember", { params: { userId } });
      },
    ];
    for (const change of changes) expect(await lookUpsAfter(organization, change)).toEqual([]);
  });

  test("a change of an organization forgets the remembered values of that organization, and of no other", async () => {
    const organization = await service.newOrganization();
    const other = await service.newOrganization();
    await organization.api.call("CreateRole", { body: { name: "own", permissions: ["job:read"] } });
    const change = () =>
      organization.api.call("UpdateRole", { params: { role: "own" }, body: { permissions: ["job:read"] } });
    expect(await lookUpsAfter(other, change)).toEqual([]);
    expect(await lookUpsAfter(organization, change)).toEqual(["find_memberships"]);
  });

  test("values of a user are loaded again at once", async () => {
    const organization = await service.newOrganization();
    const change = ({ userId }: TestMember) =>
      organization.api.call("UpdateMember", { params: { userId }, body: { roles: ["viewer"] } });
    expect(await lookUpsAfter(organization, change)).toEqual(["find_memberships"]);
    const rename = ({ client }: TestMember) => client.call("UpdateAccount", { body: { displayName: "Another name" } });
    expect(await lookUpsAfter(organization, rename)).toEqual(["find_user_token_by_hash", "find_memberships"]);
  });
});
