import { recordAccountActivity } from "../../auth/account-activity.ts";
import type { ConfirmedUser } from "../../auth/passwords/credential-check.ts";
import type { PasswordSignIn } from "../../auth/passwords/password-sign-in.ts";
import { createRecoveryCodes, createSecondFactor, stepOfCode } from "../../auth/passwords/second-factor.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";
import type { Transaction } from "../../store/home/database.ts";
import type { AccountAction } from "../../store/people/account-activity.ts";
import { replaceRecoveryCodes } from "../../store/people/recovery-codes.ts";
import { disableTotp, enableTotp, findCredentials, startTotp } from "../../store/people/user-credentials.ts";
import type { Act, CallerAct, ManagementParts, RevokingParts } from "../act/act.ts";
import { transactAnew, transactOnce } from "../act/repetition.ts";

export interface SecondFactorParts extends RevokingParts {
  readonly signIn: Pick<PasswordSignIn, "confirm" | "confirmCode">;
  readonly secrets: SecretBox;
}

/** The proof that the user gives before a second factor is removed or its recovery codes are renewed. */
export interface SecondFactorProof {
  readonly password: string;
  readonly code: string;
}

/** Makes a secret for an authenticator app. The second factor takes effect only after a code has shown that the app has the secret. */
export async function startSecondFactor(
  parts: SecondFactorParts,
  act: CallerAct,
  password: string,
): Promise<{ readonly secret: string; readonly uri: string }> {
  const { id: userId } = act.actor;
  const { email } = await confirmPassword(parts, act, password, undefined);
  // A new secret replaces the earlier one, so nothing has to be revoked.
  return await transactAnew(parts, act, { userId }, async (transaction) => {
    const { secret, uri, sealedSecret } = createSecondFactor(parts.secrets, { userId, email });
    if (!(await startTotp(transaction, userId, sealedSecret))) throw isEnabledAlready();
    await record(parts, transaction, act, "second-factor-started");
    return { made: {}, answer: { secret, uri } };
  });
}

/** Makes a second factor take effect. Returns the recovery codes. Throws 429 when too many codes or passwords of the caller were wrong. */
export async function confirmSecondFactor(
  parts: SecondFactorParts,
  act: CallerAct,
  code: string,
): Promise<readonly string[]> {
  const { id: userId } = act.actor;
  const work = async (transaction: Transaction, _: object | undefined, confirmed: ConfirmedCode | undefined) => {
    // In a repetition, the first attempt has made the factor take effect, but its recovery codes were lost.
    const answer =
      confirmed === undefined
        ? await newRecoveryCodes(parts, transaction, act)
        : await enableSecondFactor(parts, transaction, act, confirmed);
    return { made: {}, answer };
  };
  const codes = await transactAnew(parts, act, { userId }, work, () => confirmStartedCode(parts, act, code));
  parts.authenticator.forgetUser(userId);
  return codes;
}

export async function disableSecondFactor(
  parts: SecondFactorParts,
  act: CallerAct,
  proof: SecondFactorProof,
): Promise<void> {
  const { id: userId } = act.actor;
  const work = async (transaction: Transaction) => {
    if (!(await removeSecondFactor(transaction, userId))) throw isNotEnabled();
    await record(parts, transaction, act, "second-factor-disabled");
    return {};
  };
  await transactOnce(parts, act, { userId }, work, () => confirmWithCode(parts, act, proof));
  parts.authenticator.forgetUser(userId);
}

/** Returns new recovery codes; the earlier ones stop working. Throws 409 when there is no second factor. */
export async function renewRecoveryCodes(
  parts: SecondFactorParts,
  act: CallerAct,
  proof: SecondFactorProof,
): Promise<readonly string[]> {
  const { id: userId } = act.actor;
  const work = async (transaction: Transaction) => ({
    made: {},
    answer: await newRecoveryCodes(parts, transaction, act),
  });
  return await transactAnew(parts, act, { userId }, work, () => confirmWithCode(parts, act, proof));
}

/** Removes an account's second factor and its recovery codes. Returns false when the account has none. */
export async function removeSecondFactor(transaction: Transaction, userId: string): Promise<boolean> {
  if (!(await disableTotp(transaction, userId))) return false;
  await replaceRecoveryCodes(transaction, userId, []);
  return true;
}

/** A code that was right for a secret that is not in force yet. */
interface ConfirmedCode {
  readonly totpSecret: Buffer;
  readonly step: number;
}

/**
 * Checks a code, and counts wrong ones. Otherwise somebody who calls in the user's name and does not know the secret could try all codes, put the
 * factor in force and lock the user out.
 */
async function confirmStartedCode(
  { database, secrets, engine, signIn }: SecondFactorParts,
  { actor, address }: Act,
  code: string,
): Promise<ConfirmedCode> {
  const { id: userId } = actor;
  const confirmed = await signIn.confirmCode({ userId, address }, async () => {
    const user = await findCredentials(database, userId);
    if (user !== undefined && user.totpEnabledAt !== null) throw isEnabledAlready();
    if (user === undefined || user.totpSecret === null) throw isNotStarted();
    const { totpSecret } = user;
    const step = stepOfCode(secrets, userId, totpSecret, code, engine.now());
    return step === undefined ? undefined : { totpSecret, step };
  });
  if (confirmed === undefined) throw wrongCode();
  return confirmed;
}

async function enableSecondFactor(
  { engine }: SecondFactorParts,
  transaction: Transaction,
  act: Act,
  { totpSecret, step }: ConfirmedCode,
): Promise<readonly string[]> {
  const { id: userId } = act.actor;
  if (!(await enableTotp(transaction, userId, totpSecret, step, engine.now()))) throw isEnabledAlready();
  await record({ engine }, transaction, act, "second-factor-enabled");
  return await replacedCodes(transaction, userId);
}

async function newRecoveryCodes(
  parts: SecondFactorParts,
  transaction: Transaction,
  act: Act,
): Promise<readonly string[]> {
  const { id: userId } = act.actor;
  const user = await findCredentials(transaction, userId);
  if (user === undefined || user.totpEnabledAt === null) throw isNotEnabled();
  await record(parts, transaction, act, "recovery-codes-renewed");
  return await replacedCodes(transaction, userId);
}

async function replacedCodes(transaction: Transaction, userId: string): Promise<readonly string[]> {
  const { codes, codeHashes } = createRecoveryCodes();
  await replaceRecoveryCodes(transaction, userId, codeHashes);
  return codes;
}

async function confirmPassword(
  { signIn }: SecondFactorParts,
  { actor, address }: Act,
  password: string,
  code: string | undefined,
): Promise<ConfirmedUser> {
  return await signIn.confirm({ userId: actor.id, address, password, code, passwordPointer: "/password" });
}

async function confirmWithCode(
  parts: SecondFactorParts,
  act: Act,
  { password, code }: SecondFactorProof,
): Promise<void> {
  const { totpEnabledAt } = await confirmPassword(parts, act, password, code);
  if (totpEnabledAt === null) throw isNotEnabled();
}

async function record(
  { engine }: Pick<ManagementParts, "engine">,
  transaction: Transaction,
  { actor, address }: Act,
  action: AccountAction,
): Promise<void> {
  await recordAccountActivity(transaction, engine, { userId: actor.id, action, address });
}

function isNotEnabled(): ServiceError {
  return new ServiceError("ConflictError", "Your account has no second factor. Start one with StartSecondFactor.");
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
