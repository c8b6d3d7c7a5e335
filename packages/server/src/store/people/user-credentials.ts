import type { Timestamp } from "../../core/job/job-state.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";

/** What a user signs in with. */
export interface UserCredentials {
  readonly userId: string;
  readonly email: string;
  readonly passwordHash: string | null;
  readonly passwordChangedAt: Timestamp | null;
  readonly disabledAt: Timestamp | null;
  /** Sealed. In force from `totpEnabledAt` on. */
  readonly totpSecret: Buffer | null;
  readonly totpEnabledAt: Timestamp | null;
  /** The browser in which the password was changed last. It stays known, though its cookie is of the password before. */
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

/** As they are, and as they stay until the transaction ends: who changes them comes before it, or after it. */
export async function holdCredentials(transaction: Transaction, userId: string): Promise<UserCredentials | undefined> {
  const [row] = await transaction.query(holdCredentialsRow, [userId]);
  return row;
}

/** Held by a write: the store locks rows without one only where they are of one organization. */
const holdCredentialsRow = statement<UserCredentials>(
  "hold_credentials",
  "global",
  `UPDATE app_user SET disabled_at = disabled_at WHERE user_id = $1 RETURNING ${credentialColumns}`,
);

/** Sets a password, whatever was there before. False when the user does not exist. */
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

/** Nobody signs in with a password until another one is set. */
export async function removePassword(db: Queryable, userId: string, at: Timestamp): Promise<void> {
  await db.query(removePasswordRow, [userId, new Date(at).toISOString()]);
}

const removePasswordRow = statement<never>(
  "remove_password",
  "global",
  "UPDATE app_user SET password_hash = NULL, password_changed_at = $2 WHERE user_id = $1",
);

/** Changes a password from the one that was confirmed. False when it was changed meanwhile. */
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

/** The same password under today's parameters; it counts as no change. */
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

/** Keeps a secret that is not in force yet. False when a second factor is. */
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

/** Puts the very secret in force that the code was checked against. False when it was replaced, or is in force already. */
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

/** Uses a time step up, and all before it. False when it is used up already: one of two who send the same code gets in. */
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

/** False when there was none in force. */
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

/** In the order of their users, after this one. */
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

/** The same secret, sealed anew. False when it is another one meanwhile, or gone. */
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
 * Whether a password alone does not open the account: it has a second factor in force, or has no password and is opened by an issuer outside.
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

/** A disabled user signs in nowhere, and nothing that acts as them is valid; `null` lets them in again. */
export async function setDisabled(db: Queryable, userId: string, disabledAt: Timestamp | null): Promise<void> {
  await db.query(setDisabledRow, [userId, disabledAt === null ? null : new Date(disabledAt).toISOString()]);
}

const setDisabledRow = statement<never>(
  "set_user_disabled",
  "global",
  "UPDATE app_user SET disabled_at = $2 WHERE user_id = $1",
);

/** Keeps the browser of this session known to the sign-in, and no other. */
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

/** Ends the user's sessions, and with them what was issued under them; all but `keptSessionId`. */
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
