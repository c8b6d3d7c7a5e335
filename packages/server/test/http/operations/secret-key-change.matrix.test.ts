import { randomBytes } from "node:crypto";
import { Client } from "@stepwell/testing/client.ts";
import { giveSecondFactor, newSignedInPerson, rightPassword } from "@stepwell/testing/people.ts";
import { Splitter } from "@stepwell/testing/proxies/splitter.ts";
import { type TestService, testSecretKey } from "@stepwell/testing/service.ts";
import { signIn } from "@stepwell/testing/sign-in.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SigningKeys } from "../../../src/auth/oidc/signing-keys.ts";
import { resealingDuty } from "../../../src/auth/secret-key/resealing.ts";
import { SecretBox } from "../../../src/sealing/secret-box.ts";
import { useCluster } from "../../engine/node/cluster.ts";

const oldKey = testSecretKey;
const newKey = randomBytes(32).toString("base64");
const splitter = await Splitter.listen();
const cluster = useCluster(1, { STEPWELL_BASE_URL: splitter.url, STEPWELL_OTHER_SECRET_KEYS: newKey });
beforeAll(() => splitter.between([cluster.node(0).port]));
afterAll(() => splitter.stop());
const box = (key: string, ...others: string[]) =>
  new SecretBox(
    Buffer.from(key, "base64"),
    others.map((other) => Buffer.from(other, "base64")),
  );

function at({ port }: TestService, token: string, params: Record<string, string> = {}): Client {
  return new Client(`http://localhost:${port}`, token, params);
}

/** Runs the duty once, as a node with these keys would. */
async function reseal({ running: { database, engine } }: TestService, secrets: SecretBox): Promise<number> {
  let count = 0;
  const signingKeys = new SigningKeys({ database, secrets, now: () => engine.now() });
  const onResealed = (resealed: number) => {
    count += resealed;
  };
  await resealingDuty({ database, secrets, signingKeys, onResealed }).runOnce();
  return count;
}

async function sealedTrail(api: Client): Promise<{ isIntact: boolean; checkedSeals: number; findings: unknown[] }> {
  type Verification = { isIntact: boolean; checkedSeals: number; unsealedEntries: number; findings: unknown[] };
  const verify = async () => (await api.call<Verification>("VerifyAudit")).body;
  await expect.poll(async () => (await verify()).unsealedEntries, { timeout: 20_000, interval: 200 }).toBe(0);
  return await verify();
}

test("the secret key can be changed node by node, and no user is signed out or locked out", async () => {
  const before = cluster.node(0);
  const { api, organizationId, owner } = await before.newOrganization();
  expect(await sealedTrail(api)).toMatchObject({ isIntact: true, checkedSeals: 1 });
  const person = await newSignedInPerson(before);
  const factor = await giveSecondFactor(before, person);
  const session = await signIn(splitter.url, await newSignedInPerson(before));

  const between = await cluster.addNode({ STEPWELL_SECRET_KEY: newKey, STEPWELL_OTHER_SECRET_KEYS: oldKey });
  const refreshed = await fetch(`http://localhost:${between.port}/oidc/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "refresh_token",
      refresh_token: session.refreshToken,
      client_id: "stepwell-dashboard",
    }),
  });
  expect(refreshed.status).toBe(200);
  // Now each node can open the values that the other one seals.
  const { id_token: idToken } = (await refreshed.json()) as { id_token: string };
  await at(before, idToken).call("GetAccount");
  await cluster.stopNode(before);
  const there = at(between, owner.token, { organizationId });
  await there.call("RegisterWorkflow", { body: { name: "after" } });
  expect(await sealedTrail(there)).toMatchObject({ isIntact: true, findings: [] });

  // Three values are sealed anew: a signing key, the second factor and the check value. The value under a key that no node has is not sealed anew.
  await giveSecondFactor(between, await newSignedInPerson(between), box(randomBytes(32).toString("base64")));
  expect(await reseal(between, box(newKey, oldKey))).toBe(3);
  expect(await reseal(between, box(newKey, oldKey))).toBe(0);
  await expect(cluster.addNode({ STEPWELL_SECRET_KEY: oldKey, STEPWELL_OTHER_SECRET_KEYS: "" })).rejects.toThrow(
    /^STEPWELL_SECRET_KEY is not the secret key of this store/,
  );
  const after = await cluster.addNode({ STEPWELL_SECRET_KEY: newKey, STEPWELL_OTHER_SECRET_KEYS: "" });
  await at(after, idToken).call("GetAccount");
  await at(after, person.token).call("ChangePassword", {
    body: {
      currentPassword: rightPassword,
      newPassword: "another long enough password",
      code: factor.codeAt(after.running.engine.now()),
    },
    status: 204,
  });
  // The seals of the old key can be checked only with that key.
  const withoutIt = await sealedTrail(at(after, owner.token, { organizationId }));
  expect(withoutIt).toMatchObject({ isIntact: false });
  expect(withoutIt.findings[0]).toMatchObject({ kind: "seal-changed", sealNumber: 1 });
}, 60_000);
