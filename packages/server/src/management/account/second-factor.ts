import type { Timestamp } from "../../core/job/job-state.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Transaction } from "../../store/home/database.ts";
import { type AccountAction, insertAccountActivity } from "../../store/people/account-activity.ts";
import { replaceRecoveryCodes } from "../../store/people/recovery-codes.ts";
import { disableTotp, enableTotp, findCredentials, startTotp } from "../../store/people/user-credentials.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import { createRecoveryCodes, createSecondFactor, stepOfCode } from "./second-factor.ts";

export interface SecondFactorChangeParts {
  readonly now: () => Timestamp;
  readonly newId: () => string;
  readonly secrets: SecretBox;
}

/** Whose it is, and from where they ask. */
export interface SecondFactorOwner {
  readonly userId: string;
  readonly address: string;
}

/** Makes a secret for an authenticator app. It is in force only once a code of that app has shown that it arrived there. */
export async function startSecondFactor(
  parts: SecondFactorChangeParts,
  transaction: Transaction,
  user: SecondFactorOwner & { readonly email: string },
): Promise<{ readonly secret: string; readonly uri: string }> {
  const { secret, uri, sealedSecret } = createSecondFactor(parts.secrets, user);
  if (!(await startTotp(transaction, user.userId, sealedSecret))) throw isEnabledAlready();
  await note(parts, transaction, user, "second-factor-started");
  return { secret, uri };
}

/** Answers the recovery codes. Throws `ServiceError`. */
export async function enableSecondFactor(
  parts: SecondFactorChangeParts,
  transaction: Transaction,
  owner: SecondFactorOwner,
  code: string,
): Promise<readonly string[]> {
  const { secrets, now } = parts;
  const { userId } = owner;
  const user = await findCredentials(transaction, userId);
  if (user !== undefined && user.totpEnabledAt !== null) throw isEnabledAlready();
  if (user === undefined || user.totpSecret === null) throw isNotStarted();
  const { totpSecret } = user;
  const step = stepOfCode(secrets, userId, totpSecret, code, now());
  if (step === undefined) throw wrongCode();
  if (!(await enableTotp(transaction, userId, totpSecret, step, now()))) throw isEnabledAlready();
  await note(parts, transaction, owner, "second-factor-enabled");
  return await newRecoveryCodes(transaction, userId);
}

export async function disableSecondFactor(
  parts: SecondFactorChangeParts,
  transaction: Transaction,
  owner: SecondFactorOwner,
): Promise<void> {
  if (!(await disableTotp(transaction, owner.userId))) throw isNotEnabled();
  await replaceRecoveryCodes(transaction, owner.userId, []);
  await note(parts, transaction, owner, "second-factor-disabled");
}

/** Answers new recovery codes; the earlier ones stop working. Throws `ServiceError` when there is no second factor. */
export async function renewRecoveryCodes(
  parts: SecondFactorChangeParts,
  transaction: Transaction,
  owner: SecondFactorOwner,
): Promise<readonly string[]> {
  const user = await findCredentials(transaction, owner.userId);
  if (user === undefined || user.totpEnabledAt === null) throw isNotEnabled();
  await note(parts, transaction, owner, "recovery-codes-renewed");
  return await newRecoveryCodes(transaction, owner.userId);
}

export function isNotEnabled(): ServiceError {
  return new ServiceError("ConflictError", "Your account has no second factor. Start one with StartSecondFactor.");
}

async function newRecoveryCodes(transaction: Transaction, userId: string): Promise<readonly string[]> {
  const { codes, codeHashes } = createRecoveryCodes();
  await replaceRecoveryCodes(transaction, userId, codeHashes);
  return codes;
}

async function note(
  { now, newId }: SecondFactorChangeParts,
  transaction: Transaction,
  { userId, address }: SecondFactorOwner,
  action: AccountAction,
): Promise<void> {
  const activity = { userId, activityId: newId(), happenedAt: now(), action, address, details: {} };
  await insertAccountActivity(transaction, activity);
}

function isEnabledAlready(): ServiceError {
  return new ServiceError("ConflictError", "Your account has a second factor already. Disable it first.");
}

function isNotStarted(): ServiceError {
  return new ServiceError("ConflictError", "There is no second factor to confirm. Begin with StartSecondFactor.");
}

function wrongCode(): ServiceError {
  const detail = "is not the code that the app shows now; check that the clock of its device is right";
  return new ServiceError("ValidationError", `The code ${detail}.`, { problems: [{ pointer: "/code", detail }] });
}
