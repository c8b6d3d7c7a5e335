import { randomUUID } from "node:crypto";
import { useDatabase } from "@stepwell/testing/database.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shardOf } from "../../../src/store/home/shards.ts";
import { hashOfUuid } from "../../../src/store/home/uuid-hash.ts";

onEveryStore((home) => {
  const store = useDatabase(home);

  test("the hash of a uuid is PostgreSQL's own", async () => {
    const zero = "00000000-0000-0000-0000-000000000000";
    const uuids = [zero, zero.replaceAll("0", "f"), ...Array.from({ length: 5_000 }, () => randomUUID())];
    const text = "SELECT uuid, uuid_hash(uuid) AS hash FROM unnest($1::uuid[]) AS asked (uuid)";
    const rows = await store.database.query<{ uuid: string; hash: number }>(
      { name: "hash_uuids", scope: "global", text, planned: "each-time" },
      [uuids],
    );
    expect(rows.length).toBe(uuids.length);
    expect(rows.filter(({ uuid, hash }) => hashOfUuid(uuid) !== hash)).toEqual([]);
  });
});

const hash = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

test("the shard of a hash is the one whose range contains it, however the ranges are divided", () => {
  fc.assert(
    fc.property(fc.uniqueArray(hash, { maxLength: 64 }), hash, (cuts, wanted) => {
      const starts = [...new Set([-(2 ** 31), ...cuts])].sort((one, other) => one - other);
      const ranges = starts.map((min, index) => ({
        shardId: `${index}`,
        min,
        max: (starts[index + 1] ?? 2 ** 31) - 1,
      }));
      const [expected] = ranges.filter(({ min, max }) => wanted >= min && wanted <= max);
      expect(shardOf(ranges, wanted)).toBe(expected?.shardId);
    }),
  );
});
