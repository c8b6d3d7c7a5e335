import { randomBytes } from "node:crypto";
import { newDatabase } from "@stepwell/testing/postgres/own-database.ts";
import { onEveryStore, postgresHome, type StoreHome } from "@stepwell/testing/stores.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { SigningKeys } from "../../../src/auth/oidc/signing-keys.ts";
import { requireSecretKey, WrongSecretKeyError } from "../../../src/auth/secret-key/secret-key-check.ts";
import { readConfig } from "../../../src/config.ts";
import { openStore } from "../../../src/open-store.ts";
import { SecretBox } from "../../../src/sealing/secret-box.ts";
import { startService } from "../../../src/service.ts";
import type { Database } from "../../../src/store/home/database.ts";
import { findSecretKeyCheck } from "../../../src/store/people/secret-key-check.ts";

const newKey = () => randomBytes(32).toString("base64");
const box = (key: string) => new SecretBox(Buffer.from(key, "base64"));

async function opened(home: StoreHome): Promise<Database> {
  const { environment, remove } = await home.prepare();
  const database = await openStore(readConfig(environment));
  onTestFinished(async () => {
    await database.close();
    await remove();
  });
  return database;
}

test("a node with another secret key does not start on a store, and a node with the first key starts again", async () => {
  const { environment, remove } = await postgresHome.prepare();
  onTestFinished(remove);
  const startWith = async (key: string, others = "") => {
    const keys = { STEPWELL_SECRET_KEY: key, STEPWELL_OTHER_SECRET_KEYS: others };
    const ports = { STEPWELL_PORT: "0", STEPWELL_METRICS_PORT: "0", STEPWELL_LOG_LEVEL: "silent" };
    const service = await startService(readConfig({ ...environment, ...ports, ...keys }));
    await service.stop();
  };
  const key = newKey();
  await startWith(key);
  await expect(startWith(newKey())).rejects.toThrow(/^STEPWELL_SECRET_KEY is not the secret key of this store/);
  await startWith(key);
  await startWith(newKey(), key);
});

onEveryStore((home) => {
  test("a store without a check value gets one only from the key that opens its newest signing key", async () => {
    const database = await opened(home);
    const key = newKey();
    await new SigningKeys({ database, secrets: box(key), now: Date.now }).published();
    await expect(requireSecretKey(database, box(newKey()))).rejects.toThrow(WrongSecretKeyError);
    expect(await findSecretKeyCheck(database)).toBeUndefined();
    await requireSecretKey(database, box(key));
    expect(await findSecretKeyCheck(database)).toBeInstanceOf(Buffer);
    await expect(requireSecretKey(database, box(newKey()))).rejects.toThrow(WrongSecretKeyError);
  });
});

describe("nodes that start at the same time on an empty store", () => {
  async function admitted(keys: readonly string[]): Promise<readonly string[]> {
    const { url, remove } = await newDatabase("newest");
    const nodes = await Promise.all(keys.map(() => openStore(readConfig({ DATABASE_URL: url }))));
    const verdicts = await Promise.allSettled(
      nodes.map((database, index) => requireSecretKey(database, box(keys[index] ?? ""))),
    );
    for (const node of nodes) await node.close();
    await remove();
    for (const verdict of verdicts) {
      if (verdict.status === "rejected") expect(verdict.reason).toBeInstanceOf(WrongSecretKeyError);
    }
    return keys.filter((_, index) => verdicts[index]?.status === "fulfilled");
  }

  test("all start if they have one secret key", async () => {
    const key = newKey();
    expect(await admitted(Array.from({ length: 6 }, () => key))).toHaveLength(6);
  });

  test("start only with one of the keys if they have two", async () => {
    const [one, other] = [newKey(), newKey()];
    const started = await admitted([one, other, one, other, one, other]);
    expect(started).toHaveLength(3);
    expect(new Set(started).size).toBe(1);
  });
});
