import { ServiceError, type ServiceErrorReason } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import { findCredentials, findCredentialsByEmail, type UserCredentials } from "../../store/people/user-credentials.ts";
import { type ConfirmedUser, CredentialCheck, type CredentialCheckParts } from "./credential-check.ts";
import { createDevice, deviceIdIn } from "./known-device.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import { normalizePassword } from "./password-rules.ts";
import {
  accountSubject,
  addressSubject,
  confirmationSubject,
  deviceSubject,
  secondsInWords,
} from "./sign-in-backoff.ts";

export interface SignInAttempt {
  readonly email: string;
  readonly password: string;
  /** The code of the second factor: from the authenticator app, or a recovery code. */
  readonly code: string | undefined;
  readonly address: string;
  /** The `device` value that the browser got at an earlier sign-in, or when the user set the password in this browser. */
  readonly knownDevice: string | undefined;
}

export type SignInResult =
  /** The browser keeps `device`, which is not a credential. */
  | {
      readonly outcome: "accepted";
      readonly userId: string;
      /**
       * The address of the account. The typed address may have different letters that PostgreSQL treats as the same: in many locales, the lower case
       * of the Kelvin sign is a k.
       */
      readonly email: string;
      /** The time at which the password of this sign-in was set. It shows later whether the password has been changed since. */
      readonly passwordChangedAt: Timestamp | null;
      readonly device: string;
      readonly deviceId: string;
    }
  | { readonly outcome: "rejected" }
  /** The password is right, and the account has a second factor: ask for its code, and try again with password and code. */
  | { readonly outcome: "code-needed" }
  /** Too many attempts were wrong, so the password was not checked. */
  | { readonly outcome: "blocked"; readonly retryAfterSeconds: number };

/** The proof that a signed-in person gives before they change what they sign in with, or make a token that acts as them. */
export interface Confirmation {
  readonly userId: string;
  /** Undefined when the request has no password. Then no attempt is counted. */
  readonly password: string | undefined;
  readonly code: string | undefined;
  readonly address: string;
  /** The pointer to the password in the request's body. */
  readonly passwordPointer: string;
}

/**
 * Checks the passwords of people who sign in or confirm that it is them. Every check of a password in the service goes through this class. Wrong
 * passwords and codes are recorded in the activity of the account.
 */
export class PasswordSignIn {
  readonly #parts: CredentialCheckParts;
  readonly #check: CredentialCheck;

  constructor(parts: CredentialCheckParts) {
    this.#parts = parts;
    this.#check = new CredentialCheck(parts);
  }

  /** This node's hasher. Everything that hashes passwords on this node shares it. */
  get hasher(): PasswordHasher {
    return this.#check.hasher;
  }

  /** Throws `ServiceError` UnavailableError when too many passwords wait to be checked. */
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
        return { outcome: "accepted", userId, email: result.user.email, passwordChangedAt, device, deviceId };
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

  /**
   * Makes the `device` value for the browser in which the user has just set the password, so that this browser is a known device. Wrong guesses
   * elsewhere then do not delay sign-ins in this browser.
   */
  newDevice(user: Pick<UserCredentials, "userId" | "passwordChangedAt">): string {
    const { secrets, newId } = this.#parts;
    return createDevice(secrets, user, newId());
  }

  /**
   * Returns the credentials that were confirmed. Throws `ServiceError`: ValidationError that points at what is wrong, RateLimitError after too many
   * wrong attempts, ConflictError for a user without a password, UnavailableError when too many passwords wait to be checked.
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
        throw wrong("/code", "is not valid now, or was used before");
      case "code-missing":
        throw missing("/code", "code-needed", "is missing: your account has a second factor");
      case "blocked":
        throw tooMany(result.retryAfterSeconds);
    }
  }

  /**
   * Lets a signed-in person try a code of a second factor that is not in force yet. Wrong codes count together with the passwords and codes of
   * `confirm`. Returns what `look` found; undefined for a wrong code. Throws RateLimitError after too many wrong attempts, and everything that `look`
   * throws.
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

/** An e-mail address is never longer (RFC 5321). */
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
  const detail = `Too many passwords or codes were wrong. Try again in ${secondsInWords(retryAfterSeconds)}.`;
  return new ServiceError("RateLimitError", detail, { retryAfterSeconds });
}
