import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SecretBox } from "../../src/sealing/secret-box.ts";
import { secretBoxOf, secretKeyOf } from "../../src/sealing/secret-key.ts";

const box = new SecretBox(randomBytes(32));

test("a sealed value opens only with the same key, purpose and context", () => {
  const sealed = box.seal("totp", "user 1", "secret");
  expect(box.open("totp", "user 1", sealed).toString()).toBe("secret");
  expect(() => box.open("totp", "user 2", sealed)).toThrow();
  expect(() => box.open("signing key", "user 1", sealed)).toThrow();
  expect(() => new SecretBox(randomBytes(32)).open("totp", "user 1", sealed)).toThrow();
});

test("a value that was sealed with an earlier configured key can be opened, and is sealed again with the present key", () => {
  const [before, after] = [randomBytes(32), randomBytes(32)];
  const sealed = new SecretBox(before).seal("totp", "user 1", "secret");
  const changing = new SecretBox(after, [randomBytes(32), before]);
  expect(changing.open("totp", "user 1", sealed).toString()).toBe("secret");
  const resealed = changing.reseal("totp", "user 1", sealed) ?? Buffer.alloc(0);
  expect(new SecretBox(after).open("totp", "user 1", resealed).toString()).toBe("secret");
  expect(changing.reseal("totp", "user 1", resealed)).toBeUndefined();
  // A value stays as it is if none of the keys can open it.
  expect(changing.reseal("totp", "user 2", sealed)).toBeUndefined();
});

test("the other keys must follow the same rules", () => {
  const config = { secretKey: randomBytes(32).toString("base64"), databaseUrl: undefined, dataDir: "/nowhere" };
  expect(() => secretBoxOf({ ...config, otherSecretKeys: ["short"] })).toThrow(/STEPWELL_OTHER_SECRET_KEYS/);
});

test("a sealed value that was changed in any byte does not open", () => {
  const sealed = box.seal("totp", "user 1", "secret");
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8((sealed[index] ?? 0) ^ 1, index);
    expect(() => box.open("totp", "user 1", changed)).toThrow();
  }
});

test("the same value is sealed differently each time", () => {
  expect(box.seal("totp", "user 1", "secret")).not.toEqual(box.seal("totp", "user 1", "secret"));
});

test("a service with a database server needs a configured secret key", () => {
  const config = { databaseUrl: "postgres://localhost/x", dataDir: "/nowhere" };
  expect(() => secretKeyOf({ ...config, secretKey: undefined })).toThrow(
    /STEPWELL_SECRET_KEY is missing.*openssl rand/,
  );
  const secretKey = randomBytes(32).toString("base64");
  expect(secretKeyOf({ ...config, secretKey }).toString("base64")).toBe(secretKey);
});

test.each([
  ["too short", randomBytes(31).toString("base64")],
  ["a row of zeros", Buffer.alloc(32).toString("base64")],
  ["a word again and again", Buffer.from("secret".repeat(8)).toString("base64")],
  ["no base64", "correct horse battery staple, and then some more"],
])("a secret key that is %s is refused", (_name, secretKey) => {
  expect(() => secretKeyOf({ secretKey, databaseUrl: undefined, dataDir: "/nowhere" })).toThrow(/STEPWELL_SECRET_KEY/);
});

test("the embedded store creates a key file that no other user can read, and keeps it", () => {
  const parent = mkdtempSync(join(tmpdir(), "stepwell-key-"));
  const dataDir = join(parent, "data");
  try {
    const config = { secretKey: undefined, databaseUrl: undefined, dataDir };
    const key = secretKeyOf(config);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, "secret.key")).mode & 0o777).toBe(0o600);
    expect(secretKeyOf(config)).toEqual(key);
    writeFileSync(join(dataDir, "secret.key"), "");
    expect(() => secretKeyOf(config)).toThrow(/secret\.key must be at least 32 random bytes/);
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
});
