import { randomUUID } from "node:crypto";
import { useDatabase } from "@stepwell/testing/database.ts";
import { said } from "@stepwell/testing/notes.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { readEvents } from "../../../src/engine/reading/job-events.ts";
import type { Queryable } from "../../../src/store/home/database.ts";
import { writeEventChanges } from "../../../src/store/jobs/events.ts";

/** The bytes of payloads that one statement may read. The last payload may exceed this bound. */
const portionBytes = 4_000_000;
const maxPayloadBytes = 1_000_000;
/** The length of a payload of null. */
const nullBytes = 4;

onEveryStore((home) => {
  const opened = useDatabase(home);

  async function jobWithEvents(payloadSizes: readonly (number | undefined)[]) {
    const { database } = opened;
    const key = { organizationId: randomUUID(), jobId: randomUUID() };
    const insert = "INSERT INTO organization VALUES ($1, $1::uuid::text, 'test', now(), now(), NULL)";
    await database.query(said(insert), [key.organizationId]);
    const changes = payloadSizes.map((size, index) => ({
      type: "kept" as const,
      eventNumber: index + 1,
      eventId: `e${index + 1}`,
      outcome: "unmatched" as const,
      sentBy: { type: "user" as const, id: key.organizationId },
      at: Date.now(),
      address: undefined,
      payload: size === undefined ? undefined : size === nullBytes ? null : "a".repeat(size - 2),
    }));
    for (const change of changes) {
      await database.transaction((transaction) => writeEventChanges(transaction, [{ ...key, changes: [change] }]));
    }
    return key;
  }

  /** The store, and the bytes of the payloads that each statement read. */
  function watched(): { readonly db: Queryable; readonly portions: number[] } {
    const portions: number[] = [];
    const db: Queryable = {
      async query(asked, values) {
        const rows = await opened.database.query(asked, values);
        const payloads = rows.map((row) => (row as { readonly payload: string | null }).payload);
        portions.push(payloads.reduce((sum, payload) => sum + (payload?.length ?? 0), 0));
        return rows;
      },
    };
    return { db, portions };
  }

  test("a page of large events ends when an answer is full, and no statement reads much more than four megabytes", async () => {
    const key = await jobWithEvents(Array.from({ length: 20 }, () => maxPayloadBytes));
    const { db, portions } = watched();
    const first = await readEvents(db, key, 0, 201);
    expect(first.rows.map(({ eventNumber }) => eventNumber)).toEqual(Array.from({ length: 16 }, (_, at) => at + 1));
    expect(first.moreAfter).toBe(16);
    expect(Math.max(...portions)).toBeLessThanOrEqual(portionBytes + maxPayloadBytes);
    const last = await readEvents(db, key, 16, 201);
    expect(last.rows).toHaveLength(4);
    expect(last).not.toHaveProperty("moreAfter");
  });

  test("an event that is larger than an answer makes a page of its own", async () => {
    const key = await jobWithEvents([16_000_001, 100]);
    const numbersAfter = async (after: number) => {
      const { rows, moreAfter } = await readEvents(opened.database, key, after, 26);
      return { numbers: rows.map(({ eventNumber }) => eventNumber), moreAfter };
    };
    expect(await numbersAfter(0)).toEqual({ numbers: [1], moreAfter: 1 });
    expect(await numbersAfter(1)).toEqual({ numbers: [2], moreAfter: undefined });
  });

  test("small events, events without a payload and payloads of null are read with one statement", async () => {
    const key = await jobWithEvents([undefined, nullBytes, 100, undefined, 1_000, 10]);
    const { db, portions } = watched();
    const { rows } = await readEvents(db, key, 1, 4);
    expect(rows.map(({ payload }) => payload?.length ?? null)).toEqual([nullBytes, 100, null, 1_000]);
    expect(rows[0]?.payload).toBe("null");
    expect(portions).toHaveLength(1);
  });
});
