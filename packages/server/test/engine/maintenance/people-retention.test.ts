import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { peopleRetentionDuty } from "../../../src/engine/maintenance/people-retention.ts";

const dayMs = 86_400_000;

onOneStore((home) => {
  const service = useService(home);

  /** Runs the duty as if this many days had passed. */
  async function runIn(days: number): Promise<void> {
    const { database, engine } = service.running;
    const now = () => engine.now() + days * dayMs;
    await peopleRetentionDuty({ database, now, accountActivityDays: 400, invitationDays: 90 }).runOnce();
  }

  test("the activity of an account is deleted after the configured time, and not earlier", async () => {
    const { client } = await service.newUser();
    await client.call("UpdateAccount", { body: { displayName: "Ada" } });
    const activities = async () =>
      (await client.call<{ activities: object[] }>("ListAccountActivity")).body.activities.length;
    await runIn(399);
    expect(await activities()).toBe(1);
    await runIn(401);
    expect(await activities()).toBe(0);
  });

  test("an invitation is deleted some time after its expiry, and its audit entry stays", async () => {
    const { api } = await service.newOrganization();
    const { body } = await api.call<{ invitationId: string; code: string }>("CreateInvitation", {
      body: { roles: ["viewer"], expiresAt: new Date(service.running.engine.now() + dayMs).toISOString() },
    });
    const params = { invitationId: body.invitationId };
    await (await service.newUser()).client.call("AcceptInvitation", { body: { invitation: body.code } });
    await runIn(90);
    expect((await api.call("GetInvitation", { params })).body).toMatchObject({ status: "accepted" });
    await runIn(92);
    await api.refused("GetInvitation", "NotFoundError", { params });
    const { body: audit } = await api.call<{ entries: object[] }>("ListAudit", {
      query: { targetId: body.invitationId },
    });
    expect(audit.entries).toHaveLength(2);
  });
});
