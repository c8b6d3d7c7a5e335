import { randomUUID } from "node:crypto";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { jobNoticesDuty } from "../../../src/engine/maintenance/job-notices.ts";
import { findNotices, insertNotices, type JobNotice } from "../../../src/store/jobs/job-notices.ts";
import type { JobKey } from "../../../src/store/jobs/jobs.ts";

onEveryStore((home) => {
  const service = useService(home);

  /** Writes notices as if a node that does not run had left them. Their times are in the future, so only the test delivers them. */
  async function nodeWith(notices: readonly JobNotice[]) {
    const { database } = service.running;
    const nodeId = randomUUID();
    const at = Date.now() + 86_400_000;
    await database.transaction((transaction) => insertNotices(transaction, { nodeId, at }, notices.slice(0, -1)));
    const last = { nodeId, at: at + 1_000 };
    await database.transaction((transaction) => insertNotices(transaction, last, notices.slice(-1)));
    const bounds = { lateMs: 0x7fff_ffff, maxBytes: 1_000_000 };
    const dutyWith = (report: (key: JobKey) => Promise<unknown>) =>
      jobNoticesDuty({ database, nodeId, everyMs: 1, ...bounds, maxRoundMs: 5, report, random: () => 0.5 });
    const left = async () =>
      (await findNotices(database, { nodeId, ...bounds, leftOutJobIds: [], limit: 5_000 })).notices;
    return { dutyWith, left };
  }

  function notice(organizationId: string): JobNotice {
    const [jobId, senderJobId] = [randomUUID(), randomUUID()];
    return { organizationId, jobId, senderJobId, branch: "", step: "begin", visit: 1, epoch: 1, outcome: null };
  }

  test("the notices of one organization, however many and slow they are, do not delay another organization's", async () => {
    const [crowd, other] = [await service.newOrganization(), await service.newOrganization()];
    const notices = Array.from({ length: 1_200 }, () => notice(crowd.organizationId));
    const { dutyWith, left } = await nodeWith([...notices, notice(other.organizationId)]);
    const crowdMayEnd = Promise.withResolvers<void>();
    const otherIsTold = Promise.withResolvers<void>();
    const duty = dutyWith(async ({ organizationId }) => {
      if (organizationId === crowd.organizationId) return await crowdMayEnd.promise;
      otherIsTold.resolve();
    });

    const round = duty.runOnce();
    await otherIsTold.promise;
    crowdMayEnd.resolve();
    await round;

    while ((await duty.runOnce()) !== undefined);
    expect(await left()).toEqual([]);
  });

  test("a job that cannot be notified does not stop the notices of others, and the failure is logged", async () => {
    const { organizationId } = await service.newOrganization();
    const notices = Array.from({ length: 600 }, () => notice(organizationId));
    const { dutyWith, left } = await nodeWith(notices);
    const [poison] = notices;
    const duty = dutyWith(async ({ jobId }) => {
      if (jobId === poison?.jobId) throw new Error("It cannot be told.");
    });

    while ((await left()).length > 1) await duty.runOnce().catch(() => undefined);

    expect(await left()).toEqual([poison]);
    await expect(duty.runOnce()).rejects.toThrow("It cannot be told.");
  });

  test("each notice is delivered once, and then deleted", async () => {
    const organizations = await Promise.all([1, 2, 3].map(() => service.newOrganization()));
    const notices = organizations.flatMap(({ organizationId }) =>
      Array.from({ length: 400 }, () => notice(organizationId)),
    );
    const { dutyWith, left } = await nodeWith(notices);
    const told: string[] = [];
    const duty = dutyWith(async ({ jobId }) => {
      told.push(jobId);
    });

    while ((await duty.runOnce()) !== undefined);

    expect(told.toSorted()).toEqual(notices.map(({ jobId }) => jobId).toSorted());
    expect(await left()).toEqual([]);
  });
});
