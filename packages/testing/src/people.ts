import { TOTP } from "otpauth";
import { expect } from "vitest";
import { hashAlone } from "../../server/src/auth/passwords/password-hasher.ts";
import { PasswordSignIn, type SignInAttempt } from "../../server/src/auth/passwords/password-sign-in.ts";
import { createRecoveryCodes, createSecondFactor } from "../../server/src/auth/passwords/second-factor.ts";
import { SecretBox } from "../../server/src/sealing/secret-box.ts";
import { listAccountActivity } from "../../server/src/store/people/account-activity.ts";
import { replaceRecoveryCodes } from "../../server/src/store/people/recovery-codes.ts";
import { enableTotp, setPassword, startTotp } from "../../server/src/store/people/user-credentials.ts";
import { insertUser } from "../../server/src/store/people/users.ts";
import type { Client } from "./client.ts";
import { type TestService, testSecretKey } from "./service.ts";

export const secrets = new SecretBox(Buffer.from(testSecretKey, "base64"));
export const rightPassword = "a long enough password";

const hashes = new Map<string, Promise<string>>();

/** Hashes a password once for all people of a test process, because a hash is slow by design. */
function hashOf(password: string): Promise<string> {
  const hash = hashes.get(password) ?? hashAlone(password);
  hashes.set(password, hash);
  return hash;
}

export interface Person {
  readonly userId: string;
  readonly email: string;
}

/** Creates a user with a password, or without one if `password` is null. */
export async function newPerson({ running }: TestService, password: string | null = rightPassword): Promise<Person> {
  const { database, engine } = running;
  const userId = engine.newId();
  const email = `Person-${userId}@Example.org`;
  await insertUser(database, { userId, email, displayName: "A person", createdAt: engine.now() });
  if (password !== null) {
    await setPassword(database, userId, await hashOf(password), engine.now());
  }
  return { userId, email };
}

export interface SecondFactor {
  readonly recoveryCodes: readonly string[];
  /** The code that is valid at this time. */
  codeAt(at: number): string;
}

/** Writes a second factor directly into the store. It is active, and none of its codes has been used yet. */
export async function giveSecondFactor(
  { running }: TestService,
  person: Person,
  sealedBy = secrets,
): Promise<SecondFactor> {
  const { database, engine } = running;
  const { sealedSecret, secret } = createSecondFactor(sealedBy, person);
  const { codes, codeHashes } = createRecoveryCodes();
  await startTotp(database, person.userId, sealedSecret);
  await enableTotp(database, person.userId, sealedSecret, 0, engine.now());
  await database.transaction((transaction) => replaceRecoveryCodes(transaction, person.userId, codeHashes));
  return { recoveryCodes: codes, codeAt: (at) => codeOf(secret, at) };
}

export function codeOf(secret: string, at: number): string {
  return new TOTP({ secret }).generate({ timestamp: at });
}

/**
 * Authenticator apps show a new code every 30 s. Waits until at least 5 s of the present period are left, so that a test can send the code of this
 * period or of the one before, and the service accepts both.
 */
export async function untilCodesStay({ running }: TestService): Promise<void> {
  await expect.poll(() => running.engine.now() % codeMs).toBeLessThan(codeMs - 5_000);
}

const codeMs = 30_000;

/** The check of passwords with a clock that the test sets. */
export function signInAt(service: TestService, now: () => number): PasswordSignIn {
  const { database, engine } = service.running;
  return new PasswordSignIn({ database, now, newId: () => engine.newId(), secrets });
}

export interface SignedInPerson extends Person {
  readonly token: string;
  readonly tokenId: string;
  readonly client: Client;
}

/** Makes a user whose client sends a user token. The user has no password if `password` is null. */
export async function newSignedInPerson(
  service: TestService,
  password: string | null = rightPassword,
): Promise<SignedInPerson> {
  const { userId, client, token, tokenId } = await service.newUser();
  const { database, engine } = service.running;
  if (password !== null) await setPassword(database, userId, await hashOf(password), engine.now());
  return { userId, email: `${userId}@example.org`, client, token, tokenId };
}

let lastAddress = 0;

/** Makes an attempt from a new network address, so that attempts of different tests are not counted together. */
export function attemptOf(person: { readonly email: string }, changes: Partial<SignInAttempt> = {}): SignInAttempt {
  lastAddress += 1;
  const address = `10.${lastAddress >> 16}.${(lastAddress >> 8) & 255}.${lastAddress & 255}`;
  return { email: person.email, password: rightPassword, code: undefined, address, knownDevice: undefined, ...changes };
}

/** Counts the sign-ins at this account that were checked and refused, because the password or the code was wrong. */
export async function refusedCount({ running }: TestService, { userId }: Person): Promise<number> {
  const activity = await listAccountActivity(running.database, userId, null, 10_000);
  return activity.filter(({ action }) => action === "sign-in-refused").length;
}
