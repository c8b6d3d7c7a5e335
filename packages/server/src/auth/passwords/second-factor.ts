import { hash, randomBytes } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import type { Timestamp } from "../../core/time.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";
import type { Database } from "../../store/home/database.ts";
import { useRecoveryCode } from "../../store/people/recovery-codes.ts";
import {
  listTotpSecrets,
  replaceTotpSecret,
  type UserCredentials,
  useTotpStep,
} from "../../store/people/user-credentials.ts";

/**
 * Every authenticator app supports SHA-1, 6 digits and 30 seconds. A tolerance of one time step in both directions allows for differences of clocks
 * and slow typing.
 */
const kind = { algorithm: "SHA1", digits: 6, period: 30 } as const;
const toleratedSteps = 1;
const secretBytes = 20;
const purpose = "second factor";

export interface SecondFactorParts {
  readonly database: Database;
  readonly secrets: SecretBox;
}

export interface NewSecondFactor {
  /** The secret in base32, for people who type it. */
  readonly secret: string;
  /** The `otpauth:` address that the QR code contains. */
  readonly uri: string;
  readonly sealedSecret: Buffer;
}

export function createSecondFactor(secrets: SecretBox, user: { userId: string; email: string }): NewSecondFactor {
  const secret = new Secret({ size: secretBytes });
  const uri = new TOTP({ ...kind, issuer: "Stepwell", label: user.email, secret }).toString();
  const sealedSecret = secrets.seal(purpose, user.userId, Buffer.from(secret.bytes));
  return { secret: secret.base32, uri, sealedSecret };
}

/** For one page of users, seals again the secrets that are sealed under an earlier secret key. */
export async function resealSecondFactors(
  { database, secrets }: SecondFactorParts,
  afterUserId: string | null,
  limit: number,
): Promise<{ readonly resealedCount: number; readonly lastUserId: string | null }> {
  const page = await listTotpSecrets(database, afterUserId, limit);
  let resealedCount = 0;
  for (const { userId, totpSecret } of page) {
    const resealed = secrets.reseal(purpose, userId, totpSecret);
    if (resealed !== undefined && (await replaceTotpSecret(database, userId, totpSecret, resealed))) resealedCount += 1;
  }
  return { resealedCount, lastUserId: page.length < limit ? null : (page.at(-1)?.userId ?? null) };
}

/** Returns the number of the time step to which this code belongs; undefined when the code is not valid now. */
export function stepOfCode(
  secrets: SecretBox,
  userId: string,
  sealedSecret: Buffer,
  code: string,
  now: Timestamp,
): number | undefined {
  const digits = code.replaceAll(/\s/g, "");
  if (!/^\d{6}$/.test(digits)) return undefined;
  const bytes = new Uint8Array(secrets.open(purpose, userId, sealedSecret));
  const totp = new TOTP({ ...kind, secret: new Secret({ buffer: bytes.buffer }) });
  const delta = totp.validate({ token: digits, timestamp: now, window: toleratedSteps });
  return delta === null ? undefined : totp.counter({ timestamp: now }) + delta;
}

/** Uses up a code of the authenticator app or a recovery code. Returns which of the two it was; undefined when it cannot be used. */
export async function consumeCode(
  parts: SecondFactorParts,
  user: Pick<UserCredentials, "userId" | "totpSecret">,
  code: string,
  now: Timestamp,
): Promise<"totp" | "recovery-code" | undefined> {
  const { userId, totpSecret } = user;
  const step = totpSecret === null ? undefined : stepOfCode(parts.secrets, userId, totpSecret, code, now);
  if (step !== undefined) return (await useTotpStep(parts.database, userId, step)) ? "totp" : undefined;
  if (!recoveryForm.test(plain(code))) return undefined;
  return (await useRecoveryCode(parts.database, userId, hashRecoveryCode(code), now)) ? "recovery-code" : undefined;
}

const recoveryCodeCount = 10;
/** The alphabet leaves out characters that look like others. */
const recoveryAlphabet = "abcdefghijkmnpqrstuvwxyz23456789";
const recoveryForm = /^[a-km-np-z2-9]{16}$/;

/** Each code has 80 random bits, so a plain hash is enough. The codes are shown once. */
export function createRecoveryCodes(): { readonly codes: string[]; readonly codeHashes: Buffer[] } {
  const codes = Array.from({ length: recoveryCodeCount }, () => {
    const characters = Array.from(randomBytes(16), (byte) => recoveryAlphabet.charAt(byte % recoveryAlphabet.length));
    return (characters.join("").match(/.{4}/g) ?? []).join("-");
  });
  return { codes, codeHashes: codes.map(hashRecoveryCode) };
}

function hashRecoveryCode(code: string): Buffer {
  return hash("sha256", plain(code), "buffer");
}

/** Returns a code in its normalized spelling, however it was typed. */
function plain(code: string): string {
  return code.replaceAll(/[\s-]/g, "").toLowerCase();
}
