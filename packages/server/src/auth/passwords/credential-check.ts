import type { Timestamp } from "../../core/time.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";
import type { Database } from "../../store/home/database.ts";
import { touchSignInAttempt } from "../../store/people/sign-in-backoff.ts";
import { renewPasswordHash, type UserCredentials } from "../../store/people/user-credentials.ts";
import { recordAccountActivity } from "../account-activity.ts";
import { type Hashing, isOutdated, PasswordHasher } from "./password-hasher.ts";
import { consumeCode } from "./second-factor.ts";
import {
  type BackoffClaim,
  type BackoffSubject,
  blockedForSeconds,
  claimAttempt,
  forgiveAttempts,
  refundAttempt,
} from "./sign-in-backoff.ts";

export interface CredentialCheckParts {
  readonly database: Database;
  /** The database's time. */
  readonly now: () => Timestamp;
  readonly newId: () => string;
  readonly secrets: SecretBox;
}

/** The credentials to check. `findUser` is called before the check waits for its turn, and again when its turn has come. */
export interface CheckQuestion {
  readonly findUser: () => Promise<UserCredentials | undefined>;
  /** Returns the subjects under which the attempt is counted. */
  readonly subjectsOf: (user: UserCredentials | undefined) => readonly BackoffSubject[];
  /** The password in the form that `normalizePassword` returns. */
  readonly password: string;
  readonly code: string | undefined;
  readonly address: string;
}

export type CheckResult =
  | { readonly outcome: "right"; readonly user: ConfirmedUser }
  | { readonly outcome: "wrong-password" }
  | { readonly outcome: "wrong-code" }
  /** The password is right, and the account has a second factor. */
  | { readonly outcome: "code-missing" }
  /** Too many attempts were wrong, so the password was not checked. */
  | { readonly outcome: "blocked"; readonly retryAfterSeconds: number };

export interface CodeQuestion extends Pick<CheckQuestion, "address"> {
  readonly userId: string;
  readonly subject: BackoffSubject;
}

export type CodeResult<Right> =
  | { readonly outcome: "right"; readonly right: Right }
  | Extract<CheckResult, { readonly outcome: "wrong-code" | "blocked" }>;

export type ConfirmedUser = UserCredentials & { readonly passwordHash: string };

/**
 * Checks a password and a second factor. An attempt that is blocked costs no hash. Each attempt that is not blocked is counted before the check, and
 * costs one hash, or two when a right password has an outdated hash. The count is taken back if the check succeeds or if only the code is missing.
 * Attempts for unknown users, disabled users and users without a password cause the same writes and get the same answer as a wrong password.
 */
export class CredentialCheck {
  readonly hasher = new PasswordHasher();
  readonly #parts: CredentialCheckParts;

  constructor(parts: CredentialCheckParts) {
    this.#parts = parts;
  }

  /** Throws `ServiceError` UnavailableError when too many checks wait for their turn. */
  async check(question: CheckQuestion): Promise<CheckResult> {
    // This first check takes no lock and writes nothing, so that a flood of guesses is stopped cheaply.
    const block = await this.#blockOf(question.subjectsOf(await question.findUser()));
    return block ?? (await this.hasher.inTurn((hashing) => this.#checkInTurn(question, hashing)));
  }

  async #checkInTurn(question: CheckQuestion, hashing: Hashing): Promise<CheckResult> {
    const { database, now } = this.#parts;
    const user = await question.findUser();
    const subjects = question.subjectsOf(user);
    const claims = await claimAttempt(database, subjects, now());
    if (claims === undefined) return (await this.#blockOf(subjects)) ?? { outcome: "blocked", retryAfterSeconds: 1 };
    const storedHash = user?.disabledAt === null ? user.passwordHash : null;
    const isPassword = await hashing.matches(question.password, storedHash);
    if (!isPassword || user === undefined || storedHash === null) {
      await this.#noteFailure(question, claims, user?.userId, "password");
      return { outcome: "wrong-password" };
    }
    if (user.totpEnabledAt !== null) {
      if (!question.code) {
        await refundAttempt(database, claims);
        return { outcome: "code-missing" };
      }
      if (!(await this.#consume(user, question.code, question.address))) {
        await this.#noteFailure(question, claims, user.userId, "code");
        return { outcome: "wrong-code" };
      }
    }
    await forgiveAttempts(database, claims);
    return {
      outcome: "right",
      user: { ...user, passwordHash: await this.#renewed(user, storedHash, question, hashing) },
    };
  }

  /**
   * Checks only a code, and counts the attempt like one with a password. `look` returns undefined for a wrong code. If it throws, the attempt is not
   * counted.
   */
  async checkCode<Right>(
    { userId, subject, address }: CodeQuestion,
    look: () => Promise<Right | undefined>,
  ): Promise<CodeResult<Right>> {
    const { database, now } = this.#parts;
    const claims = await claimAttempt(database, [subject], now());
    if (claims === undefined) return (await this.#blockOf([subject])) ?? { outcome: "blocked", retryAfterSeconds: 1 };
    const right = await look().catch(async (error: unknown) => {
      await refundAttempt(database, claims);
      throw error;
    });
    if (right === undefined) {
      await this.#noteFailure({ address }, claims, userId, "code");
      return { outcome: "wrong-code" };
    }
    await forgiveAttempts(database, claims);
    return { outcome: "right", right };
  }

  async #blockOf(subjects: readonly BackoffSubject[]) {
    const retryAfterSeconds = await blockedForSeconds(this.#parts.database, subjects, this.#parts.now());
    return retryAfterSeconds === undefined ? undefined : ({ outcome: "blocked", retryAfterSeconds } as const);
  }

  async #consume(user: UserCredentials, code: string, address: string): Promise<boolean> {
    const now = this.#parts.now();
    const used = await consumeCode(this.#parts, user, code, now);
    if (used === "recovery-code") {
      const activity = { userId: user.userId, action: "recovery-code-used", address } as const;
      await recordAccountActivity(this.#parts.database, this.#parts, activity);
    }
    return used !== undefined;
  }

  /** Notes a failure in one transaction that always writes, so that it takes the same time for a user who does not exist. */
  async #noteFailure(
    { address }: Pick<CheckQuestion, "address">,
    claims: readonly BackoffClaim[],
    userId: string | undefined,
    wrong: "password" | "code",
  ): Promise<void> {
    const { database, now, newId } = this.#parts;
    const failedAt = now();
    await database.transaction(async (transaction) => {
      for (const { subject } of claims) await touchSignInAttempt(transaction, subject.hash, failedAt);
      const activity = { userId: userId ?? newId(), action: "sign-in-refused", address, details: { wrong } } as const;
      await recordAccountActivity(transaction, this.#parts, activity);
    });
  }

  async #renewed(user: UserCredentials, storedHash: string, { password }: CheckQuestion, hashing: Hashing) {
    if (!isOutdated(storedHash)) return storedHash;
    const renewed = await hashing.hash(password);
    await renewPasswordHash(this.#parts.database, user.userId, storedHash, renewed);
    return renewed;
  }
}
