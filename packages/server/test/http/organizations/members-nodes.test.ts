import { setTimeout as delay } from "node:timers/promises";
import type { Answer, Client } from "@stepwell/testing/client.ts";
import { giveSecondFactor } from "@stepwell/testing/people.ts";
import type { TestMember } from "@stepwell/testing/service.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { describe, expect, test } from "vitest";
import { useCluster } from "../../engine/node/cluster.ts";

describe("on two nodes over one PostgreSQL", () => {
  const cluster = useCluster(2);

  function onSecond(member: TestMember, organizationId: string): Client {
    return cluster.node(1).client(member.token, { organizationId });
  }

  /**
   * Calls until the other node rejects the call, which must happen within a second. Then calls for one more second, in which every call must be
   * rejected.
   */
  async function expectRefusedSoon(call: () => Promise<Answer<unknown>>, status: number): Promise<void> {
    const limitMs = timeLimit(1_200);
    const startedAt = performance.now();
    while ((await call()).status !== status) {
      expect(performance.now() - startedAt).toBeLessThan(limitMs);
      await delay(20);
    }
    const refusedAt = performance.now();
    while (performance.now() - refusedAt < 1_000) {
      expect((await call()).status).toBe(status);
      await delay(20);
    }
  }

  test("a removed member is rejected on the other node within a second", async () => {
    const first = cluster.node(0);
    const organization = await first.newOrganization();
    const member = await first.newMember(organization, ["viewer"]);
    const there = onSecond(member, organization.organizationId);
    await there.call("ListMembers");
    await organization.api.call("RemoveMember", { params: { userId: member.userId } });
    await expectRefusedSoon(() => there.callAny("ListMembers", {}), 404);
  });

  test("a removed owner can make nobody an owner and delete nothing in the second in which the other node still remembers them", async () => {
    const first = cluster.node(0);
    const organization = await first.newOrganization();
    const evicted = await first.newMember(organization, ["owner"]);
    const friend = await first.newMember(organization, ["viewer"]);
    const there = onSecond(evicted, organization.organizationId);
    await there.call("ListMembers");
    await organization.api.call("RemoveMember", { params: { userId: evicted.userId } });
    const params = { userId: friend.userId };
    await there.refused("UpdateMember", "NotFoundError", { params, body: { roles: ["owner"] } });
    await there.refused("CreateInvitation", "NotFoundError", { body: { roles: ["owner"] } });
    await there.refused("DeleteOrganization", "NotFoundError");
    const { body } = await organization.api.call("GetMember", { params });
    expect(body.roles).toEqual(["viewer"]);
  });

  test("a changed role takes effect on the other node within a second", async () => {
    const first = cluster.node(0);
    const organization = await first.newOrganization();
    const { api } = organization;
    await api.call("CreateRole", { body: { name: "reader", permissions: ["job:list"] } });
    const member = await first.newMember(organization, ["reader"]);
    const there = onSecond(member, organization.organizationId);
    await there.call("ListJobs");
    await api.call("UpdateRole", { params: { role: "reader" }, body: { permissions: ["metrics:read"] } });
    await expectRefusedSoon(() => there.callAny("ListJobs", {}), 403);
  });

  test("a second factor that an organization requires is required on the other node within a second", async () => {
    const first = cluster.node(0);
    const organization = await first.newOrganization();
    const member = await first.newMember(organization, ["viewer"]);
    const there = onSecond(member, organization.organizationId);
    await there.call("ListMembers");
    await giveSecondFactor(first, { userId: organization.owner.userId, email: "owner@example.org" });
    await organization.api.call("UpdateOrganization", { body: { requiresSecondFactor: true } });
    await expectRefusedSoon(() => there.callAny("ListMembers", {}), 403);
  });

  test("an owner without the required second factor can change nothing in the second before the other node knows the requirement", async () => {
    const first = cluster.node(0);
    const organization = await first.newOrganization();
    const shutOut = await first.newMember(organization, ["owner"]);
    const friend = await first.newMember(organization, ["viewer"]);
    const there = onSecond(shutOut, organization.organizationId);
    await there.call("ListMembers");
    await giveSecondFactor(first, { userId: organization.owner.userId, email: "owner@example.org" });
    await organization.api.call("UpdateOrganization", { body: { requiresSecondFactor: true } });
    await there.refused("UpdateOrganization", "AuthorizationError", { body: { requiresSecondFactor: false } });
    const body = { roles: ["owner"] };
    await there.refused("UpdateMember", "AuthorizationError", { params: { userId: friend.userId }, body });
    expect((await organization.api.call("GetOrganization")).body).toMatchObject({ requiresSecondFactor: true });
  });

  test("if two owners leave at the same moment, one stays, in whatever way they leave", async () => {
    const ways: readonly ((by: Client, userId: string) => Promise<Answer<unknown>>)[] = [
      (by) => by.callAny("LeaveOrganization", {}),
      (by, userId) => by.callAny("RemoveMember", { params: { userId } }),
      (by, userId) => by.callAny("UpdateMember", { params: { userId }, body: { roles: ["viewer"] } }),
    ];
    for (let round = 0; round < 12; round += 1) {
      const organization = await cluster.node(0).newOrganization();
      const { owner, organizationId } = organization;
      const other = await cluster.node(0).newMember(organization, ["owner"]);
      const there = onSecond(other, organizationId);
      await there.call("ListMembers");
      const way = ways[round % 3] ?? ways[0];
      const another = ways[Math.floor(round / 3) % 3] ?? ways[0];
      const answers = await Promise.all([way?.(organization.api, owner.userId), another?.(there, other.userId)]);
      expect(answers.map((answer) => Number(answer?.status) < 300).sort()).toEqual([false, true]);
      expect(answers.map((answer) => answer?.status)).toContain(409);
    }
  });

  test("if a role is deleted while it is given to a member, exactly one of the two succeeds", async () => {
    const { api, organizationId, owner } = await cluster.node(0).newOrganization();
    const there = cluster.node(1).client(owner.token, { organizationId });
    for (let round = 0; round < 10; round += 1) {
      const name = `role-${round}`;
      await api.call("CreateRole", { body: { name, permissions: ["job:read"] } });
      const params = { userId: owner.userId };
      const [deleted, given] = await Promise.all([
        api.callAny("DeleteRole", { params: { role: name } }),
        there.callAny("UpdateMember", { params, body: { roles: ["owner", name] } }),
      ]);
      expect([
        [204, 400],
        [409, 200],
      ]).toContainEqual([deleted.status, given.status]);
    }
  });

  test("one invitation that is accepted on both nodes at the same time creates one member", async () => {
    const first = cluster.node(0);
    const { api, organizationId } = await first.newOrganization();
    for (let round = 0; round < 5; round += 1) {
      const { body } = await api.call<{ code: string }>("CreateInvitation", { body: { roles: ["viewer"] } });
      const users = await Promise.all(Array.from({ length: 6 }, () => first.newUser()));
      const answers = await Promise.all(
        users.map(({ token }, index) =>
          cluster
            .node(index % 2)
            .client(token, { organizationId })
            .callAny("AcceptInvitation", { body: { invitation: body.code } }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(5).fill(409)]);
    }
    const members = await api.call<{ members: object[] }>("ListMembers");
    expect(members.body.members).toHaveLength(6);
  });
});
