import { randomUUID } from "node:crypto";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { openStore } from "../../../src/open-store.ts";
import { findNextWake, findTimedOutJobs } from "../../../src/store/jobs/timers.ts";
import { insertJobRow, type JobRow, jobRows } from "./job-rows.ts";

const now = Date.parse("2001-01-31T12:00:00Z");
const earlier = "2001-01-31T11:00:00Z";
const later = "2001-01-31T13:00:00Z";
const none = { versionIds: [], jobIds: [], organizationIds: [] };

onEveryStore((home) => {
  test("jobs at their timeout are found, the most overdue first; jobs that have ended, have time left or are left out are not found", async () => {
    const store = await home.prepare();
    onTestFinished(() => store.remove());
    const database = await openStore(readConfig(store.environment));
    onTestFinished(() => database.close());
    const insert = async (row: JobRow) => {
      const keys = { job_id: randomUUID(), version_id: randomUUID() };
      await insertJobRow(database, { ...row, ...keys });
      return { jobId: keys.job_id, versionId: keys.version_id };
    };
    const { calling, retrying, waiting, failed } = jobRows;
    const second = await insert({ ...calling, timeout_at: "2001-01-31T12:00:00Z" });
    const first = await insert({ ...retrying, timeout_at: earlier });
    const parkedJob = await insert({ ...waiting, timeout_at: earlier });
    const parkedVersion = await insert({ ...calling, timeout_at: earlier });
    const busyId = randomUUID();
    await insert({ ...calling, timeout_at: earlier, organization_id: busyId });
    // A node of an earlier release does not know the column `timeout_at`, and leaves it unchanged when it ends a job.
    await insert({ ...failed, timeout_at: earlier });
    await insert({ ...calling, timeout_at: later });
    await insert(calling);

    const leftOut = { versionIds: [parkedVersion.versionId], jobIds: [parkedJob.jobId], organizationIds: [busyId] };
    const found = await findTimedOutJobs(database, now, leftOut, 10);
    expect(found.map(({ jobId }) => jobId)).toEqual([first.jobId, second.jobId]);
    expect(await findTimedOutJobs(database, now, none, 10)).toHaveLength(5);
    expect(await findNextWake(database, now)).toBe(Date.parse(later));
  });
});
