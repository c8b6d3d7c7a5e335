import { createPrivateKey, type JsonWebKey, sign, verify } from "node:crypto";
import { secrets } from "@stepwell/testing/people.ts";
import { type TestService, testSecretKey, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { SigningKeys } from "../../../src/auth/oidc/signing-keys.ts";
import { SecretBox } from "../../../src/sealing/secret-box.ts";

const dayMs = 86_400_000;

onOneStore((home) => {
  const service = useService(home);
  let clock = Date.now();

  async function emptied({ running }: TestService): Promise<void> {
    const text = "DELETE FROM signing_key";
    await running.database.query({ name: "no_keys", scope: "global", planned: "each-time", text }, []);
  }

  /** Returns the keys as one more node sees them, with a clock that the test sets. */
  function node(box = secrets): SigningKeys {
    return new SigningKeys({ database: service.running.database, secrets: box, now: () => clock });
  }

  async function idsOf(keys: SigningKeys): Promise<(string | undefined)[]> {
    return (await keys.published()).map(({ kid }) => kid);
  }

  test("the first key is created when it is first needed, and nodes that need it at the same time agree on one", async () => {
    await emptied(service);
    const ids = await Promise.all(Array.from({ length: 4 }, () => idsOf(node())));
    expect(new Set(ids.flat()).size).toBe(1);
  });

  test("simultaneous requests on one node for the first key wait for a single key", async () => {
    await emptied(service);
    let sealedCount = 0;
    class CountingBox extends SecretBox {
      override seal(...sealed: Parameters<SecretBox["seal"]>): Buffer {
        sealedCount += 1;
        return super.seal(...sealed);
      }
    }
    const keys = node(new CountingBox(Buffer.from(testSecretKey, "base64")));
    const ids = await Promise.all(Array.from({ length: 10 }, () => idsOf(keys)));
    expect([new Set(ids.flat()).size, sealedCount]).toEqual([1, 1]);
  });

  test("the public part of a key verifies its signatures, also on another node", async () => {
    const [key] = await node().published();
    const signature = sign("RSA-SHA256", Buffer.from("x"), createPrivateKey({ key: key as JsonWebKey, format: "jwk" }));
    const publicKey = await node().publicKey(key?.kid ?? "");
    expect(publicKey !== undefined && verify("RSA-SHA256", Buffer.from("x"), publicKey, signature)).toBe(true);
    expect(publicKey?.type).toBe("public");
    expect(await node().publicKey("unknown")).toBeUndefined();
  });

  test("a new key is published a day before it signs, and the old one until its last token has expired", async () => {
    await emptied(service);
    const [old] = await idsOf(node());
    clock += 28 * dayMs;
    await node().rotate();
    expect(await idsOf(node())).toEqual([old]);
    clock += 1.5 * dayMs;
    await Promise.all([node().rotate(), node().rotate()]);
    const published = await idsOf(node());
    expect(published).toEqual([old, expect.any(String)]);
    const running = node();
    expect((await idsOf(running))[0]).toBe(old);
    clock += dayMs;
    // The node begins to use the new key by itself, without reading the store.
    expect(await idsOf(running)).toEqual([published[1], old]);
    expect(await node().publicKey(old ?? "")).toBeDefined();
    await node().rotate();
    clock += 2 * 3_600_000;
    expect(await node().publicKey(old ?? "")).toBeUndefined();
    await node().rotate();
    expect(await idsOf(node())).toEqual([published[1]]);
  });

  test("a service that was stopped for long continues with its key, and creates the next", async () => {
    const before = await idsOf(node());
    clock += 365 * dayMs;
    expect(await idsOf(node())).toEqual(before);
    await node().rotate();
    expect(await idsOf(node())).toHaveLength(2);
  });

  test("a service without any sign-in has no keys to rotate", async () => {
    await emptied(service);
    await node().rotate();
    const text = "SELECT key_id FROM signing_key";
    const statement = { name: "all_keys", scope: "global", planned: "each-time", text } as const;
    expect(await service.running.database.query(statement, [])).toEqual([]);
  });

  test("a wrong secret key is reported, and no new keys are created", async () => {
    await idsOf(node());
    const other = new SecretBox(Buffer.alloc(32, 7));
    await expect(node(other).published()).rejects.toThrow(/STEPWELL_SECRET_KEY/);
  });
});
