import type { Client } from "@stepwell/testing/client.ts";
import {
  attemptOf,
  codeOf,
  newSignedInPerson,
  rightPassword,
  signInAt,
  untilCodesStay,
} from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

const stepMs = 30_000;
const proof = { password: rightPassword };

onOneStore((home) => {
  const service = useService(home);
  const now = () => service.running.engine.now();

  async function enable(client: Client): Promise<{ secret: string; recoveryCodes: string[]; usedCode: string }> {
    const { body } = await client.call<{ secret: string; uri: string }>("StartSecondFactor", { body: proof });
    // The code of the previous time step is still accepted, and the test can then use the current code.
    await untilCodesStay(service);
    const usedCode = codeOf(body.secret, now() - stepMs);
    const confirmed = await client.call<{ recoveryCodes: string[] }>("ConfirmSecondFactor", {
      body: { code: usedCode },
    });
    return { secret: body.secret, recoveryCodes: confirmed.body.recoveryCodes, usedCode };
  }

  test("is active from its first code on, and that code is then used up", async () => {
    const person = await newSignedInPerson(service);
    const { client } = person;
    const signIn = signInAt(service, now);
    const { body } = await client.call<{ secret: string; uri: string }>("StartSecondFactor", { body: proof });
    expect(body.uri).toMatch(/^otpauth:\/\/totp\/Stepwell:.*secret=/);
    expect(await signIn.attempt(attemptOf(person))).toMatchObject({ outcome: "accepted" });
    const wrong = await client.refused("ConfirmSecondFactor", "ValidationError", { body: { code: "12345" } });
    expect(wrong.body.errors?.[0]?.pointer).toBe("/code");

    const code = codeOf(body.secret, now());
    const confirmed = await client.call<{ recoveryCodes: string[] }>("ConfirmSecondFactor", { body: { code } });
    expect(new Set(confirmed.body.recoveryCodes).size).toBe(10);
    expect(await signIn.attempt(attemptOf(person))).toEqual({ outcome: "code-needed" });
    expect(await signIn.attempt(attemptOf(person, { code }))).toEqual({ outcome: "rejected" });
    const [recoveryCode] = confirmed.body.recoveryCodes;
    expect(await signIn.attempt(attemptOf(person, { code: recoveryCode }))).toMatchObject({ outcome: "accepted" });
    const account = await client.call("GetAccount");
    expect(account.body).toMatchObject({ secondFactorEnabledAt: expect.any(String), recoveryCodesLeft: 9 });
    await client.refused("ConfirmSecondFactor", "ConflictError", {
      body: { code: codeOf(body.secret, now() + stepMs) },
    });
  });

  test("a second factor cannot be started without the password, or while another second factor is active", async () => {
    const { client } = await newSignedInPerson(service);
    const body = { password: "not the password" };
    const refused = await client.refused("StartSecondFactor", "ValidationError", { body });
    expect(refused.body.errors).toEqual([{ pointer: "/password", detail: "is not your password" }]);
    await client.refused("ConfirmSecondFactor", "ConflictError", { body: { code: "123456" } });
    await enable(client);
    await client.refused("StartSecondFactor", "ValidationError", { body: proof });
  });

  test("is required to change the password and to get new recovery codes, and each code works once", async () => {
    const { client } = await newSignedInPerson(service);
    const { secret, recoveryCodes, usedCode } = await enable(client);
    const change = { currentPassword: rightPassword, newPassword: "another long password" };
    const missing = await client.refused("ChangePassword", "ValidationError", { body: change });
    expect(missing.body.errors?.[0]).toMatchObject({ pointer: "/code", detail: expect.stringContaining("is missing") });
    await client.refused("ChangePassword", "ValidationError", { body: { ...change, code: usedCode } });
    const code = codeOf(secret, now());
    const renewed = await client.call<{ recoveryCodes: string[] }>("RenewRecoveryCodes", { body: { ...proof, code } });
    const [old = ""] = recoveryCodes;
    const [fresh = ""] = renewed.body.recoveryCodes;
    await client.refused("ChangePassword", "ValidationError", { body: { ...change, code: old } });
    await client.call("ChangePassword", { body: { ...change, code: fresh }, status: 204 });
  });

  test("wrong codes during the setup of a second factor count like wrong passwords, and after too many of them even a right code is not checked", async () => {
    const { client } = await newSignedInPerson(service);
    const { body } = await client.call<{ secret: string }>("StartSecondFactor", { body: proof });
    const guess = () => client.callAny("ConfirmSecondFactor", { body: { code: "000000" } });
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1) statuses.push((await guess()).status);
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
    const right = { body: { code: codeOf(body.secret, now()) } };
    const { headers } = await client.refused("ConfirmSecondFactor", "RateLimitError", right);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    // All confirmations share one count.
    await client.refused("StartSecondFactor", "RateLimitError", { body: proof });
    const { body: told } = await client.call<{ activities: { action: string }[] }>("ListAccountActivity");
    expect(told.activities.filter(({ action }) => action === "sign-in-refused")).toHaveLength(5);
  });

  test("a confirmation without a started setup does not count as a wrong code", async () => {
    const { client } = await newSignedInPerson(service);
    for (let count = 0; count < 8; count += 1) {
      await client.refused("ConfirmSecondFactor", "ConflictError", { body: { code: "000000" } });
    }
    await enable(client);
  });

  test("wrong codes count as failed attempts even with the right password, wherever they are entered", async () => {
    const { client } = await newSignedInPerson(service);
    const { secret } = await enable(client);
    const wrong = { ...proof, code: "abcd-efgh-ijkm-npqr" };
    const change = {
      currentPassword: rightPassword,
      newPassword: "another long password",
      code: "abcd-efgh-ijkm-npqr",
    };
    for (let count = 0; count < 2; count += 1) {
      await client.refused("DisableSecondFactor", "ValidationError", { body: wrong });
      await client.refused("RenewRecoveryCodes", "ValidationError", { body: wrong });
    }
    await client.refused("ChangePassword", "ValidationError", { body: change });
    const right = { ...proof, code: codeOf(secret, now()) };
    for (const operation of ["DisableSecondFactor", "RenewRecoveryCodes"]) {
      await client.refused(operation, "RateLimitError", { body: right });
    }
  });

  test("can be removed with password and code, and its recovery codes are removed with it", async () => {
    const person = await newSignedInPerson(service);
    const { client } = person;
    const { recoveryCodes } = await enable(client);
    const wrong = { ...proof, code: "abcd-efgh-ijkm-npqr" };
    await client.refused("DisableSecondFactor", "ValidationError", { body: wrong });
    const [code = ""] = recoveryCodes;
    await client.call("DisableSecondFactor", { body: { ...proof, code }, status: 204 });
    expect(await signInAt(service, now).attempt(attemptOf(person))).toMatchObject({ outcome: "accepted" });
    const account = await client.call("GetAccount");
    expect(account.body).toMatchObject({ recoveryCodesLeft: 0 });
    expect(account.body).not.toHaveProperty("secondFactorEnabledAt");
    await client.refused("DisableSecondFactor", "ConflictError", { body: { ...proof, code: "123456" } });
    await enable(client);
  });

  test("is recorded in the account's activity from its setup on", async () => {
    const { client } = await newSignedInPerson(service);
    await enable(client);
    const { body } = await client.call<{ activities: { action: string }[] }>("ListAccountActivity");
    expect(body.activities.map(({ action }) => action).toSorted()).toEqual([
      "second-factor-enabled",
      "second-factor-started",
    ]);
  });

  test("leaves nothing usable in the store: neither the secret nor a recovery code", async () => {
    const { client, userId } = await newSignedInPerson(service);
    const { secret, recoveryCodes } = await enable(client);
    const statement = {
      name: "whole_user",
      scope: "global",
      planned: "each-time",
      text: "SELECT app_user::text AS row FROM app_user WHERE user_id = $1 UNION ALL SELECT recovery_code::text FROM recovery_code WHERE user_id = $1",
    } as const;
    const rows = JSON.stringify(await service.running.database.query<{ row: string }>(statement, [userId]));
    for (const plain of [secret, ...recoveryCodes]) {
      expect(rows).not.toContain(plain);
      expect(rows).not.toContain(Buffer.from(plain).toString("hex"));
    }
    const bytes = Buffer.from(base32Hex(secret), "hex").toString("hex");
    expect(rows).not.toContain(bytes);
  });
});

function base32Hex(text: string): string {
  const bits = Array.from(text, (character) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(character).toString(2).padStart(5, "0"),
  ).join("");
  return (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2).toString(16).padStart(2, "0")).join("");
}
