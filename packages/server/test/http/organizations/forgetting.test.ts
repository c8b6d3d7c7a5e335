import { rightPassword } from "@stepwell/testing/people.ts";
import { type TestMember, useService } from "@stepwell/testing/service.ts";
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
   * Lets the bystander call, makes the change, and lets the bystander call again. If this takes longer than the second for which the bystander's
   * credential is remembered, it is tried again.
   */
  async function lookUpsAfter(bystander: TestMember, change: () => Promise<unknown>): Promise<string[]> {
    for (let tries = 0; tries < 20; tries += 1) {
      const began = performance.now();
      await bystander.api.call("ListWorkflows");
      await change();
      const names = await lookUpsOf(bystander, () => bystander.api.call("ListWorkflows"));
      if (performance.now() - began < 900) return names;
    }
    throw new Error("No try took less than a second.");
  }

  test("a change of one user does not drop the remembered values of other users", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const member = await service.newMember(organization, ["viewer"]);
    const bystander = await service.newMember(organization, ["viewer"]);
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
    for (const change of changes) expect(await lookUpsAfter(bystander, change)).toEqual([]);
  });

  test("a change of an organization forgets the remembered values of that organization, and of no other", async () => {
    const organization = await service.newOrganization();
    const other = await service.newOrganization();
    const inside = await service.newMember(organization, ["viewer"]);
    const outside = await service.newMember(other, ["viewer"]);
    await organization.api.call("CreateRole", { body: { name: "own", permissions: ["job:read"] } });
    const change = () =>
      organization.api.call("UpdateRole", { params: { role: "own" }, body: { permissions: ["job:read"] } });
    expect(await lookUpsAfter(outside, change)).toEqual([]);
    expect(await lookUpsAfter(inside, change)).toEqual(["find_memberships"]);
  });

  test("values of a user are loaded again at once", async () => {
    const organization = await service.newOrganization();
    const member = await service.newMember(organization, ["viewer"]);
    const params = { userId: member.userId };
    const change = () => organization.api.call("UpdateMember", { params, body: { roles: ["viewer"] } });
    expect(await lookUpsAfter(member, change)).toEqual(["find_memberships"]);
    const rename = () => member.client.call("UpdateAccount", { body: { displayName: "Another name" } });
    expect(await lookUpsAfter(member, rename)).toEqual(["find_user_token_by_hash", "find_memberships"]);
  });
});
