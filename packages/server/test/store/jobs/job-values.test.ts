import { randomUUID } from "node:crypto";
import { useDatabase } from "@stepwell/testing/database.ts";
import { said } from "@stepwell/testing/notes.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { insertValues, readValues, readValuesInPortions } from "../../../src/store/jobs/job-values.ts";

onEveryStore((home) => {
  const opened = useDatabase(home);

  test("values are the same whether they are read at once or in portions of any size", async () => {
    const { database } = opened;
    const key = { organizationId: randomUUID(), jobId: randomUUID() };
    const insert = "INSERT INTO organization VALUES ($1, $1::uuid::text, 'test', now(), now(), NULL)";
    await database.query(said(insert), [key.organizationId]);
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
