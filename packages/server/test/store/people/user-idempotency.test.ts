import { randomBytes, randomUUID } from "node:crypto";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { claimUserKey, deleteExpiredUserKeys } from "../../../src/store/people/user-idempotency.ts";

const at = Date.parse("2020-01-01T12:00:00Z");

onOneStore((home) => {
  const service = useService(home);

  test("expired keys of users are deleted a bounded number at a time, and a newer key stays", async () => {
    const { database } = service.running;
    const [userId, requestHash] = [randomUUID(), randomBytes(32)];
    const claim = (idempotencyKey: string, now: number) =>
      database.transaction((transaction) =>
        claimUserKey(transaction, { userId, idempotencyKey, requestHash, claimId: randomUUID() }, now, 24),
      );
    for (const key of ["a", "b", "c"]) await claim(key, at);
    const { claimId } = await claim("new", at + 1);
    const deleted = () => deleteExpiredUserKeys(database, at + 1, 2);
    expect([await deleted(), await deleted(), await deleted()]).toEqual([2, 1, 0]);
    expect(await claim("new", at + 2)).toMatchObject({ claimId });
  });
});
