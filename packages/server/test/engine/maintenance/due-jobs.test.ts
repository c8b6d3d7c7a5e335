import { randomUUID } from "node:crypto";
import { useDatabase } from "@stepwell/testing/database.ts";
import { said } from "@stepwell/testing/notes.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { beforeEach, expect, test } from "vitest";
import { type TimersOptions, timersDuty } from "../../../src/engine/maintenance/timers.ts";
import { Parking } from "../../../src/engine/plans/parking.ts";
import type { JobKey } from "../../../src/store/jobs/jobs.ts";
import { insertDueJobs, insertVersions } from "../../store/jobs/due-rows.ts";

const now = Date.parse("2026-01-31T12:00:00Z");
const everyMs = 500;
/** More due jobs than one round handles. */
const manyCount = 1_200;
/** The id of an organization whose versions come last in each turn. */
const lastOrganizationId = "ffffffff-ffff-4fff-bfff-ffffffffffff";

onEveryStore((home) => {
  const opened = useDatabase(home);
  beforeEach(async () => {
    for (const table of ["job_history", "job", "workflow_version", "workflow", "organization"]) {
      await opened.database.query(said(`DELETE FROM ${table}`), []);
    }
  });

  /** Makes a duty that has capacity for every call, unless the options say otherwise, and the list of the jobs that it wakes. */
  function duty(options: Partial<TimersOptions> = {}, until: (key: JobKey) => Promise<void> = async () => {}) {
    const woken: string[] = [];
    const timers = timersDuty({
      database: opened.database,
      clock: { now: () => now },
      everyMs,
      maxRoundMs: Number.POSITIVE_INFINITY,
      parking: new Parking(),
      wake: async (key) => {
        const { jobId } = key;
        woken.push(jobId);
        await until(key);
        await opened.database.query(
          said(
            "UPDATE job SET wake_at = NULL, call_count = 1, status = 'RUNNING', started_at = created_at, awaiting_event_ids = NULL WHERE job_id = $1",
          ),
          [jobId],
        );
        return true;
      },
      roomCount: () => 5_000,
      crowdedOrganizations: () => [],
      beginsAtOnce: () => () => false,
      ...options,
    });
    return { timers, woken };
  }

  async function due(
    count: number,
    options: { readonly isWait?: boolean; readonly organizationId?: string; readonly ageMs?: number } = {},
  ) {
    const { ageMs = 60_000, isWait = false, organizationId = randomUUID() } = options;
    const versionId = randomUUID();
    const jobIds = await insertDueJobs(opened.database, {
      organizationId,
      versionId,
      count,
      isWait,
      dueAt: now - ageMs,
    });
    return { organizationId, versionId, jobIds };
  }

  test("organizations take turns, however many overdue jobs one of them has", async () => {
    await due(manyCount);
    const others = await Promise.all([due(3, { ageMs: 1_000 }), due(3, { ageMs: 1_000, isWait: true })]);
    const { timers, woken } = duty();

    expect(await timers.runOnce()).toEqual({ againInMs: 0 });

    expect(woken).toHaveLength(500);
    expect(woken).toEqual(expect.arrayContaining(others.flatMap(({ jobIds }) => jobIds)));
    while ((await timers.runOnce())?.againInMs === 0);
    expect(woken).toHaveLength(manyCount + 6);
    expect(new Set(woken).size).toBe(woken.length);
  });

  test("a round ends in its time, and later rounds wake the jobs of other organizations while the jobs of one organization take long", async () => {
    const many = await due(100);
    const gate = Promise.withResolvers<void>();
    const isSlow = ({ organizationId }: JobKey) => organizationId === many.organizationId;
    const { timers, woken } = duty({ maxRoundMs: 0 }, (key) => (isSlow(key) ? gate.promise : Promise.resolve()));
    expect(await timers.runOnce()).toEqual({ againInMs: 0 });
    const begun = woken.length;
    expect(begun).toBeLessThan(many.jobIds.length);

    const late = await due(1, { ageMs: 1 });
    expect(await timers.runOnce()).toEqual({ againInMs: 0 });
    expect(woken.slice(begun)).toEqual(late.jobIds);

    gate.resolve();
    while ((await timers.runOnce())?.againInMs === 0);
    expect(woken.toSorted()).toEqual([...many.jobIds, ...late.jobIds].toSorted());
  });

  test("organizations that do not fit into one round follow in later rounds, and no job is woken twice", async () => {
    const all = await Promise.all(Array.from({ length: 70 }, () => due(1)));
    const gate = Promise.withResolvers<void>();
    const { timers, woken } = duty({ maxRoundMs: 0 }, () => gate.promise);
    expect(await timers.runOnce()).toEqual({ againInMs: 0 });
    expect(woken.length).toBeLessThan(all.length);
    const begun = woken.length;

    expect(await timers.runOnce()).toEqual({ againInMs: 0 });
    expect(woken).toHaveLength(begun);

    gate.resolve();
    while ((await timers.runOnce())?.againInMs === 0);
    expect(woken.toSorted()).toEqual(all.flatMap(({ jobIds }) => jobIds).toSorted());
  });

  test("a job that cannot be woken because of a store failure fails its round, and a later round wakes it", async () => {
    const { jobIds } = await due(1);
    const failures = [new Error("The store is away.")];
    const { timers, woken } = duty({}, async () => {
      const failure = failures.pop();
      if (failure !== undefined) throw failure;
    });
    await expect(timers.runOnce()).rejects.toThrow("The store is away.");
    await timers.runOnce();
    expect(woken).toEqual([...jobIds, ...jobIds]);
  });

  test("each version has its turn, also if more versions have due jobs than one round takes", async () => {
    const organizationId = randomUUID();
    const many = await due(manyCount, { organizationId });
    const at = now - 1_000;
    const others = [
      await insertVersions(opened.database, { organizationId, count: 510, timer: { at, isWait: false } }),
      await insertVersions(opened.database, { organizationId, count: 30, timer: { at, isWait: true } }),
    ].flat();
    const parking = new Parking({ now: () => 0 });
    parking.parkVersion(many, "it is unknown");
    const { timers, woken } = duty({ parking });

    await timers.runOnce();
    expect(woken.length).toBeLessThanOrEqual(500);
    while ((await timers.runOnce())?.againInMs === 0);

    expect(woken.toSorted()).toEqual(others.toSorted());
  });

  test("versions without a timer delay no turn, however many are registered", async () => {
    const many = await due(manyCount);
    await insertVersions(opened.database, { organizationId: many.organizationId, count: 1_000 });
    const late = await due(1, { organizationId: lastOrganizationId, ageMs: 1 });
    const { timers, woken } = duty();

    await timers.runOnce();

    expect(woken).toEqual(expect.arrayContaining(late.jobIds));
  });

  test("a round with a time limit of zero looks at some of the versions with timers, and later rounds look at the others", async () => {
    const many = await due(manyCount);
    const { organizationId } = many;
    const at = now + 3_600_000;
    await insertVersions(opened.database, { organizationId, count: 600, timer: { at, isWait: false } });
    await insertVersions(opened.database, { organizationId, count: 1_100, timer: { at, isWait: true } });
    const late = await due(1, { organizationId: lastOrganizationId, ageMs: 1 });
    const parking = new Parking({ now: () => 0 });
    parking.parkVersion(many, "it is unknown");
    const { timers, woken } = duty({ parking, maxRoundMs: 0 });

    expect(await timers.runOnce()).toEqual({ againInMs: 0 });
    expect(woken).toEqual([]);
    while ((await timers.runOnce())?.againInMs === 0);

    expect(woken).toEqual(late.jobIds);
  });

  test("parked jobs are skipped, and due jobs behind them are woken in the same round", async () => {
    const organizationId = randomUUID();
    const parkedVersion = await due(manyCount, { organizationId });
    const other = await due(3, { organizationId, ageMs: 1_000 });
    const parking = new Parking();
    parking.parkVersion(parkedVersion, "it is unknown");
    const [parkedJob = "", ...others] = other.jobIds;
    parking.parkJob({ organizationId, jobId: parkedJob }, "it fails");
    const { timers, woken } = duty({ parking });

    await timers.runOnce();
    expect(woken.toSorted()).toEqual(others.toSorted());

    expect(await timers.runOnce()).toBeUndefined();
    expect(woken).toHaveLength(others.length);
  });

  test("while no call finds a place, waits still end, each organization without a backlog gets one more call, and the duty rests", async () => {
    const many = await due(manyCount);
    const waits = await due(2, { organizationId: many.organizationId, isWait: true, ageMs: 1_000 });
    const other = await due(2, { ageMs: 1_000 });
    const crowded = [many.organizationId];
    const { timers, woken } = duty({ roomCount: () => 0, crowdedOrganizations: () => crowded });

    await timers.runOnce();
    expect(woken.toSorted()).toEqual([...waits.jobIds, woken.find((jobId) => other.jobIds.includes(jobId))].toSorted());

    crowded.push(other.organizationId);
    expect(await timers.runOnce()).toBeUndefined();
    expect(woken).toHaveLength(3);
  });

  test("calls that begin at once take no waiting place", async () => {
    const { jobIds, organizationId } = await due(5);
    let free = 4;
    const { timers, woken } = duty({
      roomCount: () => 0,
      crowdedOrganizations: () => [organizationId],
      beginsAtOnce: () => () => free-- > 0,
    });

    await timers.runOnce();

    expect(woken).toHaveLength(4);
    expect(jobIds).toEqual(expect.arrayContaining(woken));
  });

  test("due jobs that do not change cause no immediate new round", async () => {
    await due(manyCount);
    const { timers } = duty({ wake: async () => false });
    expect(await timers.runOnce()).toBeUndefined();
  });
});
