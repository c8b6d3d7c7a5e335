import { randomUUID } from "node:crypto";
import { said } from "@stepwell/testing/notes.ts";
import { newDatabase } from "@stepwell/testing/postgres/own-database.ts";
import { onEveryStore, type PreparedStore } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Config, readConfig } from "../../../src/config.ts";
import { organizationKeyPattern } from "../../../src/core/organization-key.ts";
import { newId } from "../../../src/engine/identifier.ts";
import { openStore } from "../../../src/open-store.ts";
import { findOrganizationKeys } from "../../../src/store/access/organization-keys.ts";
import type { Database } from "../../../src/store/home/database.ts";
import { insertJobRow, type JobRow, jobRows } from "../jobs/job-rows.ts";

interface Applied {
  readonly number: number;
  readonly appliedAt: number;
}

async function appliedMigrations(database: Database): Promise<Applied[]> {
  const list = said<Applied>(
    `SELECT number, applied_at AS "appliedAt" FROM schema_migration ORDER BY number, applied_at`,
  );
  return await database.query(list, []);
}

test("nodes that start at the same time on an empty database apply each migration once in total", async () => {
  const { url, remove } = await newDatabase("empty");
  onTestFinished(remove);
  const config = readConfig({ DATABASE_URL: url });

  const databases = await Promise.all(Array.from({ length: 6 }, () => openStore(config)));

  const [database] = databases;
  const applied = database === undefined ? [] : await appliedMigrations(database);
  expect(applied.length).toBeGreaterThan(0);
  expect(applied.map(({ number }) => number)).toEqual(applied.map((_, index) => index + 1));
  for (const opened of databases) await opened.close();
});

/** The ids are in the order in which they were made. */
const ids = Array.from({ length: 7 }, (_, index) => newId(index));

async function undoKeys(database: Database): Promise<void> {
  await database.query(said("DROP TABLE organization_key"), []);
  await database.query(said("ALTER TABLE role DROP COLUMN role_id, DROP COLUMN former_names"), []);
  await database.query(said("DELETE FROM schema_migration WHERE name = 'keys_and_role_ids'"), []);
}

onEveryStore((home) => {
  let store: PreparedStore;
  let config: Config;
  beforeAll(async () => {
    store = await home.prepare();
    config = readConfig(store.environment);
  });
  afterAll(() => store.remove());

  describe("a store at the newest schema", () => {
    let database: Database;
    beforeAll(async () => {
      database = await openStore(config);
    });
    afterAll(() => database.close());

    test.each(Object.entries(jobRows))("accepts a job that is %s", async (_name, row) => {
      await insertJobRow(database, row);
    });

    const { pending, calling, retrying, succeeded, failed, cancelled } = jobRows;
    const at = succeeded.finished_at;
    test.each<[string, JobRow]>([
      ["in an unknown status", { ...pending, status: "PAUSED" }],
      ["finished, without the time", { ...succeeded, finished_at: null }],
      ["failed, without the time", { ...failed, finished_at: null }],
      ["cancelled, without the time", { ...cancelled, finished_at: null }],
      ["running, with the time of its end", { ...calling, finished_at: at }],
      ["pending, with the time of its end", { ...pending, finished_at: at }],
      ["running, without the time of its start", { ...calling, started_at: null }],
      ["finished, with a call", { ...succeeded, call_count: 1 }],
      ["finished, with a timer", { ...failed, wake_at: at }],
      ["finished, still awaiting an event", { ...cancelled, awaiting_event_ids: ["approved"] }],
      ["pending, with a call", { ...pending, call_count: 1 }],
      ["running, with nothing that could move it", { ...retrying, wake_at: null }],
      ["running, with fewer calls than none", { ...retrying, call_count: -1 }],
      ["pending, awaiting an event", { ...pending, awaiting_event_ids: ["approved"] }],
      ["without any history", { ...retrying, sequence: 0 }],
      ["at an epoch before the first", { ...retrying, lease_epoch: -1 }],
    ])("rejects a job that is %s", async (_name, row) => {
      // The SQLSTATE of a violated check.
      await expect(insertJobRow(database, row)).rejects.toMatchObject({ code: "23514" });
    });
  });

  test("an organization from before the introduction of keys gets a key from its name, with an ending if an older organization has that key", async () => {
    const before = await openStore(config);
    await undoKeys(before);
    const names = [
      "Acme, Inc.",
      "acme inc",
      "x",
      "株式会社",
      `Acme Inc ${ids[1]?.replaceAll("-", "")}`,
      ids[0] ?? "",
      "Z".repeat(90),
    ];
    for (const [index, name] of names.entries()) {
      const insert = "INSERT INTO organization VALUES ($1, $2, $2, now(), now(), NULL)";
      await before.query(said(insert), [ids[index], name]);
    }
    await before.close();

    const after = await openStore(config);
    const keys = await findOrganizationKeys(after, ids);
    await after.close();
    const ending = (index: number) => ids[index]?.replaceAll("-", "");
    expect(ids.map((id) => keys.get(id))).toEqual([
      "acme-inc",
      `acme-inc-${ending(1)}`,
      "organization",
      `organization-${ending(3)}`,
      `acme-inc-${ending(1)?.slice(0, 22)}-${ending(4)}`,
      `organization-${ending(5)}`,
      "z".repeat(64),
    ]);
    for (const key of keys.values()) expect(key).toMatch(new RegExp(organizationKeyPattern));
  });

  test("an event names both a step and its visit, or neither", async () => {
    const database = await openStore(config);
    onTestFinished(() => database.close());
    const insert = said(
      `INSERT INTO job_event (organization_id, job_id, event_number, event_id, outcome, sent_by, received_at, for_step, for_visit)
       VALUES ($1, $1, $2, 'approved', 'buffered', '{}', now(), $3, $4)`,
    );
    const id = randomUUID();
    await database.query(insert, [id, 1, null, null]);
    await database.query(insert, [id, 2, "approve", 1]);
    await expect(database.query(insert, [id, 3, "approve", null])).rejects.toMatchObject({ code: "23514" });
  });

  test("a second start applies nothing, and a store that is newer than the program is rejected with both schema numbers", async () => {
    const first = await openStore(config);
    const applied = await appliedMigrations(first);
    await first.close();

    const second = await openStore(config);
    expect(await appliedMigrations(second)).toEqual(applied);
    const newest = applied.length;
    await second.query(said("INSERT INTO schema_migration (number, name) VALUES ($1, 'from-the-future')"), [
      newest + 1,
    ]);
    await second.close();

    const refusal = `The store is at schema ${newest + 1}, but this program knows only ${newest}.`;
    await expect(openStore(config)).rejects.toThrow(refusal);
  });
});
