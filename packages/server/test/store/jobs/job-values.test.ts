import { randomUUID } from "node:crypto";
import { useDatabase } from "@stepwell/testing/database.ts";
import { said } from "@stepwell/testing/notes.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { insertValues, readValues, readValuesInPortions } from "../../../src/store/jobs/job-values.ts";

onEveryStore((home) => {
  const opened = useDatabase(home);

  /** Returns the key of a job in a new organization. */
  async function newKey() {
    const organizationId = randomUUID();
    const insert = "INSERT INTO organization VALUES ($1, $1::uuid::text, 'test', now(), now(), NULL)";
    await opened.database.query(said(insert), [organizationId]);
    return { organizationId, jobId: randomUUID() };
  }

  test("values written together are read as they were sent, with any characters", async () => {
    const { database } = opened;
    const keys = [await newKey(), await newKey()];
    const values = [
      '"NULL"',
      '{"text": "\\"quoted\\", {in braces}, \\\\ and \\u0000 and \\ud800"}',
      '["",  [], {}, -0.50, 1e400]',
      '"ä, 漢字, 👩‍👩‍👧 and \u2028"',
      `"${"é".repeat(100_000)}"`,
      "null",
    ].map((text, index) => ({ valueNumber: index + 1, bytes: 1_000, text }));
    await database.transaction((transaction) =>
      insertValues(
        transaction,
        keys.map((key) => ({ ...key, values })),
      ),
    );
    const wanted = keys.flatMap((key) => values.map(({ valueNumber }) => ({ ...key, valueNumber })));
    const read = await readValues(database, wanted, 1_000_000, wanted.length);
    expect(read.map(({ text }) => text)).toEqual([...values, ...values].map(({ text }) => text));
  });

  test("values are the same whether they are read at once or in portions of any size", async () => {
    const { database } = opened;
    const key = await newKey();
    const sizes = [1_500_000, 2_000_000, 1_000_000, 10, 3_000_000, 4_500_000, 1_000];
    const values = sizes.map((bytes, index) => ({ valueNumber: index + 1, bytes, text: `"${"a".repeat(bytes - 2)}"` }));
    await database.transaction((transaction) => insertValues(transaction, [{ ...key, values }]));
    // The numbers are not in order, and the store has no value 99.
    const numbers = [3, 1, 99, 2, 4, 5, 6, 7];
    const wanted = numbers.map((valueNumber) => ({ ...key, valueNumber }));
    for (const maxBytes of [0, 1_000_000, 2_500_001, 4_600_000, 6_000_000, 8_000_000, 20_000_000]) {
      for (const freeCount of [1, 2]) {
        const portions = await readValuesInPortions(database, key, numbers, maxBytes, freeCount);
        const atOnce = await readValues(database, wanted, maxBytes, freeCount);
        const shown = (read: typeof atOnce) => read.map(({ valueNumber, text }) => [valueNumber, text.length]);
        expect(shown(portions), `${maxBytes} bytes, ${freeCount} free`).toEqual(shown(atOnce));
      }
    }
  });
});
