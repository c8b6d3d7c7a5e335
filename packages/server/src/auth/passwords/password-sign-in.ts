import type { Timestamp } from "../../core/job/job-state.ts";
import { ServiceError, type ServiceErrorReason } from "../../core/service-error.ts";
import { findCredentials, findCredentialsByEmail, type UserCredentials } from "../../store/people/user-credentials.ts";
import { type ConfirmedUser, CredentialCheck, type CredentialCheckParts } from "../credentials/credential-check.ts";
import { createDevice, deviceIdIn } from "./known-device.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import { normalizePassword } from "./password-rules.ts";
import { accountSubject, addressSubject, confirmationSubject, deviceSubject } from "./sign-in-backoff.ts";

export interface SignInAttempt {
  readonly email: string;
  readonly password: string;
  /** Of the second factor: from the authenticator app, or a recovery code. */
  readonly code: string | undefined;
  readonly address: string;
  /** `device` of an earlier sign-in from the same browser. */
  readonly knownDevice: string | undefined;
}

export type SignInResult =
  /** `device` is for the browser to keep; it is no credential. */
  | {
      readonly outcome: "accepted";
      readonly userId: string;
      /** When the password was set that was right. */
      readonly passwordChangedAt: Timestamp | null;
      readonly device: string;
      readonly deviceId: string;
    }
  | { readonly outcome: "rejected" }
  /** The password is right, and the account has a second factor: ask for its code and try again with both. */
  | { readonly outcome: "code-needed" }
  /** Too many were wrong. Nothing was looked at. */
  | { readonly outcome: "blocked"; readonly retryAfterSeconds: number };

/** Asked of somebody who is signed in, before what they sign in with is changed and before a token is made that acts as them. */
export interface Confirmation {
  readonly userId: string;
  /** Undefined when it was not sent: then nothing is counted. */
  readonly password: string | undefined;
  readonly code: string | undefined;
  readonly address: string;
  /** Where the password stands in the request's body. */
  readonly passwordPointer: string;
}

/** The one place where passwords are checked: for the sign-in, and for who changes what they sign in with. Writes down what was rejected. */
export class PasswordSignIn {
  readonly #parts: CredentialCheckParts;
  readonly #check: CredentialCheck;

  constructor(parts: CredentialCheckParts) {
    this.#parts = parts;
    this.#check = new CredentialCheck(parts);
  }

  /** Of this node; whatever hashes passwords shares it. */
  get hasher(): PasswordHasher {
    return this.#check.hasher;
  }

  /** Throws `ServiceError` UnavailableError when too many wait for theirs to be checked. */
  async attempt({ email, password, code, address, knownDevice }: SignInAttempt): Promise<SignInResult> {
    const { database, secrets, newId } = this.#parts;
    const normalized = normalizePassword(password);
    if (normalized === undefined || email.length > maxEmailLength || email.includes("\0"))
      return { outcome: "rejected" };
    const result = await this.#check.check({
      findUser: () => findCredentialsByEmail(database, email),
      subjectsOf: (user) => {
        const deviceId = deviceIdIn(secrets, user, knownDevice);
        return deviceId === undefined ? [addressSubject(address), accountSubject(email)] : [deviceSubject(deviceId)];
      },
      password: normalized,
      code,
      address,
    });
    switch (result.outcome) {
      case "right": {
        const { userId, passwordChangedAt } = result.user;
        const deviceId = deviceIdIn(secrets, result.user, knownDevice) ?? newId();
        const device = createDevice(secrets, result.user, deviceId);
        return { outcome: "accepted", userId, passwordChangedAt, device, deviceId };
      }
      case "code-missing":
        return { outcome: "code-needed" };
      case "blocked":
        return result;
      case "wrong-password":
      case "wrong-code":
        return { outcome: "rejected" };
    }
  }

  /** Makes the value by which the browser where this user's password was just set stays known, so that guesses from elsewhere do not hold it back. */
  newDevice(user: Pick<UserCredentials, "userId" | "passwordChangedAt">): string {
    const { secrets, newId } = this.#parts;
    return createDevice(secrets, user, newId());
  }

  /**
   * Answers the credentials that were confirmed. Throws `ServiceError`: ValidationError that points at what is wrong, RateLimitError when
   * too much was, ConflictError for who has no password.
   */
  async confirm({ userId, password, code, address, passwordPointer }: Confirmation): Promise<ConfirmedUser> {
    const user = await findCredentials(this.#parts.database, userId);
    if (user === undefined || user.passwordHash === null) throw hasNoPassword();
    if (password === undefined) throw missing(passwordPointer, "password-needed", "is missing: confirm that it is you");
    const normalized = normalizePassword(password);
    if (normalized === undefined) throw wrong(passwordPointer, notYours);
    const result = await this.#check.check({
      findUser: () => findCredentials(this.#parts.database, userId),
      subjectsOf: () => [confirmationSubject(userId)],
      password: normalized,
      code,
      address,
    });
    switch (result.outcome) {
      case "right":
        return result.user;
      case "wrong-password":
        throw wrong(passwordPointer, notYours);
      case "wrong-code":
        throw wrong("/code", "is not a code that holds now, or was used before");
      case "code-missing":
        throw missing("/code", "code-needed", "is missing: your account has a second factor");
      case "blocked":
        throw tooMany(result.retryAfterSeconds);
    }
  }

  /**
   * Lets somebody who is signed in try a code, of a second factor that is not in force yet. Wrong ones count with the passwords and codes of
   * `confirm`. Answers what `look` found, undefined for a wrong code. Throws RateLimitError when too much was wrong, and whatever `look` throws.
   */
  async confirmCode<Right>(
    { userId, address }: Pick<Confirmation, "userId" | "address">,
    look: () => Promise<Right | undefined>,
  ): Promise<Right | undefined> {
    const result = await this.#check.checkCode({ userId, address, subject: confirmationSubject(userId) }, look);
    if (result.outcome === "blocked") throw tooMany(result.retryAfterSeconds);
    return result.outcome === "right" ? result.right : undefined;
  }
}

/** Longer than any e-mail address (RFC 5321). */
const maxEmailLength = 320;

const notYours = "is not your password";

function wrong(pointer: string, detail: string): ServiceError {
  return new ServiceError("ValidationError", `${pointer} ${detail}.`, { problems: [{ pointer, detail }] });
}

function missing(pointer: string, reason: ServiceErrorReason, detail: string): ServiceError {
  return new ServiceError("ValidationError", `${pointer} ${detail}.`, { reason, problems: [{ pointer, detail }] });
}

function hasNoPassword(): ServiceError {
  const detail = "Your account has no password. Ask an owner of your organization for a link that sets one.";
  return new ServiceError("ConflictError", detail);
}

function tooMany(retryAfterSeconds: number): ServiceError {
  const detail = `Too many passwords or codes were wrong. Try again in ${retryAfterSeconds} seconds.`;
  return new ServiceError("RateLimitError", detail, { retryAfterSeconds });
}
