import { randomUUID } from "node:crypto";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import {
  accountSubject,
  addressSubject,
  claimAttempt,
  refundAttempt,
} from "../../../src/auth/passwords/sign-in-backoff.ts";

const at = Date.parse("2026-11-21T12:00:00Z");

onEveryStore((home) => {
  const service = useService(home);
  const claim = (subject: ReturnType<typeof accountSubject>, when: number) =>
    claimAttempt(service.running.database, [subject], when);

  test("free attempts stay free on a node whose clock is behind", async () => {
    const subject = addressSubject(randomUUID());
    expect(await claim(subject, at)).toMatchObject([{ count: 1 }]);
    expect(await claim(subject, at - 50)).toMatchObject([{ count: 2 }]);
  });

  test("the fifth failure blocks for a second, the sixth for two", async () => {
    const subject = accountSubject(`${randomUUID()}@example.com`);
    for (let count = 1; count <= 5; count += 1) expect(await claim(subject, at)).toMatchObject([{ count }]);
    expect(await claim(subject, at + 999)).toBeUndefined();
    expect(await claim(subject, at + 1_000)).toMatchObject([{ count: 6 }]);
    expect(await claim(subject, at + 2_999)).toBeUndefined();
    expect(await claim(subject, at + 3_000)).toMatchObject([{ count: 7 }]);
  });

  test("an attempt that is refunded does not block the user, whatever clock a node has", async () => {
    const subject = accountSubject(`${randomUUID()}@example.com`);
    for (let count = 1; count <= 4; count += 1) await claim(subject, at);
    const fifth = (await claim(subject, at)) ?? [];
    expect(await claim(subject, at)).toBeUndefined();
    await refundAttempt(service.running.database, fifth);
    expect(await claim(subject, at - 50)).toMatchObject([{ count: 5 }]);
  });
});
