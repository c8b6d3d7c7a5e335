import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createToken, hashToken, parseToken } from "../../src/auth/credentials/token-form.ts";

test("a token names its organization or its user, and is read back", () => {
  for (const kind of ["organization", "user"] as const) {
    for (const ownerId of [
      randomUUID(),
      "00000000-0000-0000-0000-000000000000",
      "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ]) {
      const { token, tokenHash, tokenPrefix } = createToken(kind, ownerId);
      expect(token).toMatch(kind === "user" ? /^stu_\w{22}_\w{38}$/ : /^stw_\w{22}_\w{38}$/);
      expect(parseToken(token)).toEqual({ kind, ownerId });
      expect(tokenHash).toEqual(hashToken(token));
      expect(token.startsWith(tokenPrefix)).toBe(true);
      expect(token.length - tokenPrefix.length).toBe(34);
    }
  }
});

test("a text with one character of a token changed, added or left out is not a token", () => {
  const { token } = createToken("organization", randomUUID());
  for (let index = 0; index < token.length; index += 1) {
    const other = token[index] === "x" ? "y" : "x";
    expect(parseToken(token.slice(0, index) + other + token.slice(index + 1)), `at ${index}`).toBeUndefined();
    expect(parseToken(token.slice(0, index) + token.slice(index + 1))).toBeUndefined();
    expect(parseToken(`${token.slice(0, index)}x${token.slice(index)}`)).toBeUndefined();
  }
  for (const text of ["", "stw_", `${token}\n`, ` ${token}`, token.toUpperCase(), "x".repeat(100_000)]) {
    expect(parseToken(text)).toBeUndefined();
  }
});

test("an owner id of more than 128 bits is refused, even with a correct checksum", async () => {
  const { crc32 } = await import("node:zlib");
  const unchecked = `stw_${"z".repeat(22)}_${"0".repeat(32)}`;
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  let rest = crc32(unchecked);
  let checksum = "";
  for (let index = 0; index < 6; index += 1) {
    checksum = alphabet.charAt(rest % 62) + checksum;
    rest = Math.floor(rest / 62);
  }
  expect(parseToken(unchecked + checksum)).toBeUndefined();
});

test("secrets do not repeat, and all characters are equally frequent", () => {
  const ownerId = randomUUID();
  const counts = new Map<string, number>();
  const secrets = new Set<string>();
  for (let index = 0; index < 4_000; index += 1) {
    const secret = createToken("organization", ownerId).token.slice(27, 59);
    secrets.add(secret);
    for (const character of secret) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  expect(secrets.size).toBe(4_000);
  expect(counts.size).toBe(62);
  const expected = (4_000 * 32) / 62;
  const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  // With 61 degrees of freedom, a fair source exceeds 130 once in a million runs. A random byte modulo 62 gives about 900.
  expect(chiSquare).toBeLessThan(130);
});
