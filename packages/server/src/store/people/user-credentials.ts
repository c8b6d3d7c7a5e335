import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";

/** The credentials with which a user signs in. */
export interface UserCredentials {
  readonly userId: string;
  readonly email: string;
  readonly passwordHash: string | null;
  readonly passwordChangedAt: Timestamp | null;
  readonly disabledAt: Timestamp | null;
  /** The sealed TOTP secret, which is in force from `totpEnabledAt` on. */
  readonly totpSecret: Buffer | null;
  readonly totpEnabledAt: Timestamp | null;
  /**
   * The browser of the session in which the password was last changed; null when there is no such session. This browser still counts as a known
   * device, although its cookie belongs to the previous password.
   */
  readonly keptDeviceId: string | null;
}

const credentialColumns = `
  user_id AS "userId", email, password_hash AS "passwordHash", password_changed_at AS "passwordChangedAt",
  disabled_at AS "disabledAt", totp_secret AS "totpSecret", totp_enabled_at AS "totpEnabledAt",
  kept_device_id AS "keptDeviceId"`;

export async function findCredentialsByEmail(db: Queryable, email: string): Promise<UserCredentials | undefined> {
  const [row] = await db.query(findCredentialsByEmailRow, [email]);
  return row;
}

const findCredentialsByEmailRow = statement<UserCredentials>(
  "find_credentials_by_email",
  "global",
  `SELECT ${credentialColumns} FROM app_user WHERE lower(email) = lower($1)`,
);

export async function findCredentials(db: Queryable, userId: string): Promise<UserCredentials | undefined> {
  const [row] = await db.query(findCredentialsRow, [userId]);
  return row;
}

const findCredentialsRow = statement<UserCredentials>(
  "find_credentials",
  "global",
  `SELECT ${credentialColumns} FROM app_user WHERE user_id = $1`,
);

/** Reads the credentials and locks them until the transaction ends, so that no other change runs at the same time. */
export async function holdCredentials(transaction: Transaction, userId: string): Promise<UserCredentials | undefined> {
  const [row] = await transaction.query(holdCredentialsRow, [userId]);
  return row;
}

/** The lock is a write. The store uses row locks without a write only for rows of a single organization. */
const holdCredentialsRow = statement<UserCredentials>(
  "hold_credentials",
  "global",
  `UPDATE app_user SET disabled_at = disabled_at WHERE user_id = $1 RETURNING ${credentialColumns}`,
);

/** Sets a password, whether or not there was one. Returns false when the user does not exist. */
export async function setPassword(
  db: Queryable,
  userId: string,
  passwordHash: string,
  at: Timestamp,
): Promise<boolean> {
  const rows = await db.query(setPasswordRow, [userId, passwordHash, new Date(at).toISOString()]);
  return rows.length > 0;
}

const setPasswordRow = statement<{ userId: string }>(
  "set_password",
  "global",
  `UPDATE app_user SET password_hash = $2, password_changed_at = $3 WHERE user_id = $1 RETURNING user_id AS "userId"`,
);

export async function removePassword(db: Queryable, userId: string, at: Timestamp): Promise<void> {
  await db.query(removePasswordRow, [userId, new Date(at).toISOString()]);
}

const removePasswordRow = statement<never>(
  "remove_password",
  "global",
  "UPDATE app_user SET password_hash = NULL, password_changed_at = $2 WHERE user_id = $1",
);

/** Changes a password, if it is still the one that was confirmed. Returns false when it was changed meanwhile. */
export async function changePassword(
  db: Queryable,
  userId: string,
  confirmedHash: string,
  passwordHash: string,
  at: Timestamp,
): Promise<boolean> {
  const rows = await db.query(changePasswordRow, [userId, confirmedHash, passwordHash, new Date(at).toISOString()]);
  return rows.length > 0;
}

const changePasswordRow = statement<{ userId: string }>(
  "change_password",
  "global",
  `UPDATE app_user SET password_hash = $3, password_changed_at = $4
   WHERE user_id = $1 AND password_hash = $2
   RETURNING user_id AS "userId"`,
);

/** Stores another hash of the same password, made under the present parameters. This does not count as a change of password. */
export async function renewPasswordHash(
  db: Queryable,
  userId: string,
  outdatedHash: string,
  passwordHash: string,
): Promise<void> {
  await db.query(renewPasswordHashRow, [userId, outdatedHash, passwordHash]);
}

const renewPasswordHashRow = statement<never>(
  "renew_password_hash",
  "global",
  "UPDATE app_user SET password_hash = $3 WHERE user_id = $1 AND password_hash = $2",
);

/** Stores a TOTP secret that is not in force yet. Returns false when a second factor is in force. */
export async function startTotp(db: Queryable, userId: string, sealedSecret: Buffer): Promise<boolean> {
  const rows = await db.query(startTotpRow, [userId, sealedSecret]);
  return rows.length > 0;
}

const startTotpRow = statement<{ userId: string }>(
  "start_totp",
  "global",
  `UPDATE app_user SET totp_secret = $2, totp_last_step = NULL
   WHERE user_id = $1 AND totp_enabled_at IS NULL
   RETURNING user_id AS "userId"`,
);

/**
 * Puts a TOTP secret in force, if it is still the one against which the code was checked. Returns false when it was replaced, or is in force already.
 */
export async function enableTotp(
  db: Queryable,
  userId: string,
  sealedSecret: Buffer,
  step: number,
  at: Timestamp,
): Promise<boolean> {
  const rows = await db.query(enableTotpRow, [userId, sealedSecret, step, new Date(at).toISOString()]);
  return rows.length > 0;
}

const enableTotpRow = statement<{ userId: string }>(
  "enable_totp",
  "global",
  `UPDATE app_user SET totp_enabled_at = $4, totp_last_step = $3
   WHERE user_id = $1 AND totp_secret = $2 AND totp_enabled_at IS NULL
   RETURNING user_id AS "userId"`,
);

/** Marks a time step and all earlier ones as used. Returns false when it was used before, so only one of two requests with the same code succeeds. */
export async function useTotpStep(db: Queryable, userId: string, step: number): Promise<boolean> {
  const rows = await db.query(useTotpStepRow, [userId, step]);
  return rows.length > 0;
}

const useTotpStepRow = statement<{ userId: string }>(
  "use_totp_step",
  "global",
  `UPDATE app_user SET totp_last_step = $2
   WHERE user_id = $1 AND totp_enabled_at IS NOT NULL AND (totp_last_step IS NULL OR totp_last_step < $2)
   RETURNING user_id AS "userId"`,
);

/** Disables the second factor. Returns false when none was in force. */
export async function disableTotp(db: Queryable, userId: string): Promise<boolean> {
  const rows = await db.query(disableTotpRow, [userId]);
  return rows.length > 0;
}

const disableTotpRow = statement<{ userId: string }>(
  "disable_totp",
  "global",
  `UPDATE app_user SET totp_secret = NULL, totp_enabled_at = NULL, totp_last_step = NULL
   WHERE user_id = $1 AND totp_enabled_at IS NOT NULL
   RETURNING user_id AS "userId"`,
);

export interface SealedTotp {
  readonly userId: string;
  readonly totpSecret: Buffer;
}

/** Lists users' sealed TOTP secrets in the order of the users' ids, beginning after the user `afterUserId`. */
export async function listTotpSecrets(db: Queryable, afterUserId: string | null, limit: number): Promise<SealedTotp[]> {
  return await db.query(listTotpSecretRows, [afterUserId, limit]);
}

const listTotpSecretRows = statement<SealedTotp>(
  "list_totp_secrets",
  "global",
  `SELECT user_id AS "userId", totp_secret AS "totpSecret"
   FROM app_user
   WHERE totp_secret IS NOT NULL AND ($1::uuid IS NULL OR user_id > $1::uuid)
   ORDER BY user_id
   LIMIT $2`,
);

/** Stores a TOTP secret that was sealed anew. Returns false when the secret was replaced meanwhile, or is gone. */
export async function replaceTotpSecret(
  db: Queryable,
  userId: string,
  before: Buffer,
  after: Buffer,
): Promise<boolean> {
  const rows = await db.query(replaceTotpSecretRow, [userId, before, after]);
  return rows.length > 0;
}

const replaceTotpSecretRow = statement<{ userId: string }>(
  "replace_totp_secret",
  "global",
  `UPDATE app_user SET totp_secret = $3
   WHERE user_id = $1 AND totp_secret = $2
   RETURNING user_id AS "userId"`,
);

/**
 * Whether a password alone does not give access to the account. Either a second factor is in force, or the account has an external identity and no
 * password.
 */
export async function isBeyondPassword(db: Queryable, userId: string): Promise<boolean> {
  const rows = await db.query(findUserBeyondPassword, [userId]);
  return rows.length > 0;
}

const findUserBeyondPassword = statement<{ found: number }>(
  "find_user_beyond_password",
  "global",
  `SELECT 1 AS found
   FROM app_user
   WHERE user_id = $1
     AND (totp_enabled_at IS NOT NULL
       OR (password_hash IS NULL
         AND EXISTS (SELECT 1 FROM external_identity WHERE external_identity.user_id = app_user.user_id)))`,
);

/** Disables a user, or enables the user again (`null`). A disabled user cannot sign in, and none of the user's sessions and tokens are valid. */
export async function setDisabled(db: Queryable, userId: string, disabledAt: Timestamp | null): Promise<void> {
  await db.query(setDisabledRow, [userId, disabledAt === null ? null : new Date(disabledAt).toISOString()]);
}

const setDisabledRow = statement<never>(
  "set_user_disabled",
  "global",
  "UPDATE app_user SET disabled_at = $2 WHERE user_id = $1",
);

/** Stores the browser of this session as the one that still counts as a known device (`keptDeviceId`). Without a session, there is none. */
export async function keepDeviceOf(db: Queryable, userId: string, sessionId: string | null): Promise<void> {
  await db.query(keepDeviceOfSession, [userId, sessionId]);
}

const keepDeviceOfSession = statement<never>(
  "keep_device_of_session",
  "global",
  `UPDATE app_user
   SET kept_device_id = (SELECT device_id FROM user_session WHERE user_session.user_id = $1 AND user_session.session_id = $2)
   WHERE user_id = $1`,
);

/** Ends the user's sessions except `keptSessionId`. Everything that was issued under an ended session ends with it. */
export async function endOtherSessions(
  db: Queryable,
  userId: string,
  keptSessionId: string | null,
  at: Timestamp,
): Promise<void> {
  await db.query(endOtherSessionRows, [userId, keptSessionId, new Date(at).toISOString()]);
}

const endOtherSessionRows = statement<never>(
  "end_other_sessions",
  "global",
  `UPDATE user_session
   SET ended_at = $3
   WHERE user_id = $1 AND ended_at IS NULL AND ($2::uuid IS NULL OR session_id <> $2)`,
);
