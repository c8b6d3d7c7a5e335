import { hash as argon2 } from "@node-rs/argon2";
import {
  attemptOf,
  giveSecondFactor,
  newPerson,
  refusedCount,
  rightPassword,
  signInAt,
} from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { describe, expect, test } from "vitest";
import type { SignInResult } from "../../../src/auth/passwords/password-sign-in.ts";
import { listAccountActivity } from "../../../src/store/people/account-activity.ts";
import { findCredentials, setDisabled, setPassword } from "../../../src/store/people/user-credentials.ts";
import { useCluster } from "../../engine/node/cluster.ts";

const quarterOfAnHourMs = 15 * 60_000;
const wrong = { password: "some other password" };

onOneStore((home) => {
  const service = useService(home);
  /** The time at which the clock of each test here begins. It is far from the clocks of all other tests. */
  const start = Date.UTC(2030, 0, 1);

  test("the right password is accepted for any spelling of the e-mail address", async () => {
    const person = await newPerson(service);
    const signIn = signInAt(service, () => start);
    const { userId } = person;
    expect(await signIn.attempt(attemptOf(person))).toMatchObject({ outcome: "accepted", userId });
    const shouted = { email: person.email.toUpperCase() };
    expect(await signIn.attempt(attemptOf(shouted))).toMatchObject({ outcome: "accepted", userId });
    expect(await signIn.attempt(attemptOf(person, wrong))).toEqual({ outcome: "rejected" });
  });

  test("the same password typed on another keyboard is the same password", async () => {
    const person = await newPerson(service, "se\u00f1or con contrase\u00f1a");
    const signIn = signInAt(service, () => start);
    const decomposed = attemptOf(person, { password: "sen\u0303or con contrasen\u0303a" });
    // A password is normalized when it is set and when it is checked, so every Unicode form of the same characters is accepted.
    expect(await signIn.attempt(decomposed)).toMatchObject({ outcome: "accepted" });
  });

  test("five of 1,000 simultaneous guesses are checked, and the others get the time of the next try", async () => {
    const person = await newPerson(service);
    const signIn = signInAt(service, () => start);
    const guesses = Array.from({ length: 1_000 }, () => signIn.attempt(attemptOf(person, wrong)));
    const results = await Promise.allSettled(guesses);
    expect(countOf(results, "rejected")).toBe(5);
    expect(await refusedCount(service, person)).toBe(5);
    expect(signIn.hasher.hashCount).toBe(5);
    expect(await signIn.attempt(attemptOf(person))).toEqual({ outcome: "blocked", retryAfterSeconds: 1 });
  });

  inWholeMatrix(() => {
    test("a person who guesses every second for a quarter of an hour gets at most 20 guesses checked, also if one is right", async () => {
      const person = await newPerson(service);
      let now = start;
      const signIn = signInAt(service, () => now);
      for (; now < start + quarterOfAnHourMs; now += 1_000) await signIn.attempt(attemptOf(person, wrong));
      const first = await refusedCount(service, person);
      expect(first).toBeGreaterThan(5);
      expect(first).toBeLessThanOrEqual(20);
      for (; now < start + 2 * quarterOfAnHourMs; now += 1_000) await signIn.attempt(attemptOf(person, wrong));
      expect((await refusedCount(service, person)) - first).toBeLessThanOrEqual(2);
      expect(await signIn.attempt(attemptOf(person))).toMatchObject({ outcome: "blocked" });
    });
  });

  test("guesses at one account from many places are counted together", async () => {
    const person = await newPerson(service);
    const signIn = signInAt(service, () => start);
    const outcomes: string[] = [];
    for (let index = 0; index < 10; index += 1) {
      outcomes.push((await signIn.attempt(attemptOf(person, wrong))).outcome);
    }
    expect(outcomes.filter((outcome) => outcome === "rejected")).toHaveLength(5);
  });

  inWholeMatrix(() => {
    test("guesses at many accounts from one place are slowed down too, also for a neighbour in the same /64", async () => {
      let now = start;
      const signIn = signInAt(service, () => now);
      let looked = 0;
      for (let index = 0; index < 130; index += 1) {
        const address = `2001:db8:7:8::${index.toString(16)}`;
        const result = await signIn.attempt(attemptOf({ email: `${index}@spray.example.org` }, { ...wrong, address }));
        if (result.outcome === "rejected") looked += 1;
      }
      expect(looked).toBe(100);
      const person = await newPerson(service);
      const neighbour = attemptOf(person, { address: "2001:db8:7:8:ffff::1" });
      expect(await signIn.attempt(neighbour)).toMatchObject({ outcome: "blocked" });
      expect(await signIn.attempt({ ...neighbour, address: "2001:db8:7:9::1" })).toMatchObject({ outcome: "accepted" });
      now += 3_601_000;
      expect(await signIn.attempt(neighbour)).toMatchObject({ outcome: "accepted" });
    });

    test("an office can sign in through one address as often as it likes, because right passwords do not count", async () => {
      const person = await newPerson(service);
      const signIn = signInAt(service, () => start);
      const { address } = attemptOf(person);
      for (let index = 0; index < 120; index += 1) {
        expect(await signIn.attempt(attemptOf(person, { address }))).toMatchObject({ outcome: "accepted" });
      }
    });
  });

  test("a success clears the same person's earlier wrong guesses", async () => {
    const person = await newPerson(service);
    const signIn = signInAt(service, () => start);
    for (let round = 0; round < 3; round += 1) {
      for (let index = 0; index < 4; index += 1) await signIn.attempt(attemptOf(person, wrong));
      expect(await signIn.attempt(attemptOf(person))).toMatchObject({ outcome: "accepted" });
    }
  });

  test("an owner cannot be locked out of a device from which they signed in before", async () => {
    const person = await newPerson(service);
    const signIn = signInAt(service, () => start);
    const first = await signIn.attempt(attemptOf(person));
    const knownDevice = first.outcome === "accepted" ? first.device : undefined;
    const other = await newPerson(service);
    for (let index = 0; index < 10; index += 1) await signIn.attempt(attemptOf(person, wrong));
    expect(await signIn.attempt(attemptOf(person))).toMatchObject({ outcome: "blocked" });
    expect(await signIn.attempt(attemptOf(person, { knownDevice }))).toEqual(first);
    // The service counts the tries from a known device separately, but only those of the user for whom the device is known.
    expect(await signIn.attempt(attemptOf(person, { knownDevice: `${knownDevice}x` }))).toMatchObject({
      outcome: "blocked",
    });
    for (let index = 0; index < 5; index += 1) await signIn.attempt(attemptOf(person, { ...wrong, knownDevice }));
    expect(await signIn.attempt(attemptOf(person, { knownDevice }))).toMatchObject({ outcome: "blocked" });
    for (let index = 0; index < 5; index += 1) await signIn.attempt(attemptOf(other, { ...wrong, knownDevice }));
    expect(await signIn.attempt(attemptOf(other, { knownDevice }))).toMatchObject({ outcome: "blocked" });
  });

  test("a device that was signed in with an older password gets no guesses of its own", async () => {
    const person = await newPerson(service);
    const signIn = signInAt(service, () => start);
    const first = await signIn.attempt(attemptOf(person));
    const knownDevice = first.outcome === "accepted" ? first.device : undefined;
    const { passwordHash } = (await findCredentials(service.running.database, person.userId)) ?? {};
    await setPassword(service.running.database, person.userId, passwordHash ?? "", start);
    for (let index = 0; index < 5; index += 1) await signIn.attempt(attemptOf(person, wrong));
    expect(await signIn.attempt(attemptOf(person, { knownDevice }))).toMatchObject({ outcome: "blocked" });
  });

  describe.each([
    ["an unknown account", async () => ({ email: `nobody-${Math.random()}@example.org` })],
    ["a user without a password", async () => await newPerson(service, null)],
    [
      "a disabled user, whose password is right",
      async () => {
        const person = await newPerson(service);
        await setDisabled(service.running.database, person.userId, start);
        return person;
      },
    ],
    ["a user whose password is another", async () => await newPerson(service, "quite another password")],
  ])("sign-ins of %s", (_name, make) => {
    test("give the same answers, one hash is computed for each, and the sixth guess is slowed down", async () => {
      const signIn = signInAt(service, () => start);
      const target = await make();
      for (let index = 1; index <= 5; index += 1) {
        expect(await signIn.attempt(attemptOf(target))).toEqual({ outcome: "rejected" });
        expect(signIn.hasher.hashCount).toBe(index);
      }
      expect(await signIn.attempt(attemptOf(target))).toEqual({ outcome: "blocked", retryAfterSeconds: 1 });
      expect(signIn.hasher.hashCount).toBe(5);
    });
  });

  test.each([
    ["of a megabyte", "x".repeat(1024 * 1024)],
    ["of 257 characters", "x".repeat(257)],
    ["with a NUL", `${rightPassword}\0`],
    ["that is empty", ""],
  ])("a password %s is rejected without a hash, and does not count as a guess", async (_name, password) => {
    const person = await newPerson(service);
    const signIn = signInAt(service, () => start);
    for (let index = 0; index < 20; index += 1) {
      expect(await signIn.attempt(attemptOf(person, { password }))).toEqual({ outcome: "rejected" });
    }
    expect(signIn.hasher.hashCount).toBe(0);
    expect(await signIn.attempt(attemptOf(person))).toMatchObject({ outcome: "accepted" });
  });

  test("a hash that was made with other parameters is replaced at the next sign-in", async () => {
    const person = await newPerson(service, null);
    const { database } = service.running;
    const weak = await argon2(rightPassword, { memoryCost: 1_024, timeCost: 1, parallelism: 1 });
    await setPassword(database, person.userId, weak, start);
    const signIn = signInAt(service, () => start);
    const accepted = await signIn.attempt(attemptOf(person));
    expect(accepted).toMatchObject({ outcome: "accepted" });
    expect((await findCredentials(database, person.userId))?.passwordHash).toMatch(
      /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/,
    );
    expect(await signIn.attempt(attemptOf(person))).toMatchObject({ outcome: "accepted" });
    expect(signIn.hasher.hashCount).toBe(3);
  });

  test("with a second factor, the right password alone gives no access and does not clear the count of guesses", async () => {
    const person = await newPerson(service);
    const second = await giveSecondFactor(service, person);
    const signIn = signInAt(service, () => start);
    for (let index = 0; index < 10; index += 1) {
      expect(await signIn.attempt(attemptOf(person))).toEqual({ outcome: "code-needed" });
    }
    let looked = 0;
    for (let index = 0; index < 10; index += 1) {
      await signIn.attempt(attemptOf(person));
      const guess = await signIn.attempt(attemptOf(person, { code: "000000" }));
      if (guess.outcome === "rejected") looked += 1;
    }
    expect(looked).toBe(5);
    const right = attemptOf(person, { code: second.codeAt(start) });
    expect(await signIn.attempt(right)).toMatchObject({ outcome: "blocked" });
  });

  test("a blocked account accepts its owner after the block, with the password first and the code second", async () => {
    const person = await newPerson(service);
    const second = await giveSecondFactor(service, person);
    let now = start;
    const signIn = signInAt(service, () => now);
    for (let index = 0; index < 8; index += 1, now += 3_000) await signIn.attempt(attemptOf(person, wrong));
    now += 60_000;
    expect(await signIn.attempt(attemptOf(person))).toEqual({ outcome: "code-needed" });
    const code = second.codeAt(now);
    expect(await signIn.attempt(attemptOf(person, { code }))).toMatchObject({ outcome: "accepted" });
  });

  test("a code of the authenticator app is accepted once, also one step early or late", async () => {
    const person = await newPerson(service);
    const second = await giveSecondFactor(service, person);
    let now = start;
    const signIn = signInAt(service, () => now);
    const code = second.codeAt(start);
    const all = await Promise.all(Array.from({ length: 4 }, () => signIn.attempt(attemptOf(person, { code }))));
    expect(all.filter(({ outcome }) => outcome === "accepted")).toHaveLength(1);
    now += 30_000;
    expect(await signIn.attempt(attemptOf(person, { code }))).toEqual({ outcome: "rejected" });
    const early = second.codeAt(now + 30_000);
    expect(await signIn.attempt(attemptOf(person, { code: early }))).toMatchObject({ outcome: "accepted" });
    // Using a code also uses up all codes of earlier time steps.
    expect(await signIn.attempt(attemptOf(person, { code: second.codeAt(now) }))).toEqual({ outcome: "rejected" });
    now += 120_000;
    const stale = second.codeAt(now - 60_000);
    expect(await signIn.attempt(attemptOf(person, { code: stale }))).toEqual({ outcome: "rejected" });
    const late = second.codeAt(now - 30_000);
    expect(await signIn.attempt(attemptOf(person, { code: late }))).toMatchObject({ outcome: "accepted" });
  });

  test("a recovery code is accepted once, however it is typed, and its use is recorded", async () => {
    const person = await newPerson(service);
    const { recoveryCodes } = await giveSecondFactor(service, person);
    const signIn = signInAt(service, () => start);
    const [first = "", second = ""] = recoveryCodes;
    const attempts = Array.from({ length: 4 }, () => signIn.attempt(attemptOf(person, { code: first })));
    expect((await Promise.all(attempts)).filter(({ outcome }) => outcome === "accepted")).toHaveLength(1);
    const typed = second.replaceAll("-", " ").toUpperCase();
    expect(await signIn.attempt(attemptOf(person, { code: typed }))).toMatchObject({ outcome: "accepted" });
    const activity = await listAccountActivity(service.running.database, person.userId, null, 100);
    expect(activity.filter(({ action }) => action === "recovery-code-used")).toHaveLength(2);
  });

  test("a code does not help with a wrong password, and is not used up by it", async () => {
    const person = await newPerson(service);
    const second = await giveSecondFactor(service, person);
    const signIn = signInAt(service, () => start);
    const code = second.codeAt(start);
    expect(await signIn.attempt(attemptOf(person, { ...wrong, code }))).toEqual({ outcome: "rejected" });
    expect(await signIn.attempt(attemptOf(person, { code }))).toMatchObject({ outcome: "accepted" });
  });
});

inWholeMatrix(() => {
  describe("on two nodes", () => {
    const cluster = useCluster(2);

    test("1,000 guesses at once are limited as on one node: at most 20 are checked", async () => {
      const person = await newPerson(cluster.node(0));
      const nodes = [cluster.node(0), cluster.node(1)].map((node) => signInAt(node, () => node.running.engine.now()));
      const guesses = Array.from({ length: 1_000 }, (_, index) => nodes[index % 2]?.attempt(attemptOf(person, wrong)));
      const results = await Promise.allSettled(guesses);
      const looked = countOf(results, "rejected");
      expect(looked).toBeGreaterThanOrEqual(5);
      expect(looked).toBeLessThanOrEqual(20);
      expect(await refusedCount(cluster.node(0), person)).toBe(looked);
      expect((nodes[0]?.hasher.hashCount ?? 0) + (nodes[1]?.hasher.hashCount ?? 0)).toBe(looked);
    });
  });
});

function countOf(results: readonly PromiseSettledResult<SignInResult | undefined>[], outcome: string): number {
  return results.filter((result) => result.status === "fulfilled" && result.value?.outcome === outcome).length;
}
