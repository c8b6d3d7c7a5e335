import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";
import type { TokenUse } from "./token-use.ts";

/** One sign-in of a user, from one browser or one device. */
export interface UserSession {
  readonly userId: string;
  readonly sessionId: string;
  /**
   * The way in which the user proved their identity. `password` is a password. `link` is a link of `stepwell dev` or of an invitation. `device` is a
   * device that a browser admitted. `application` is an organization's client that a browser admitted. Any other value is an external issuer.
   */
  readonly signedInBy: string;
  /** The organization's client for which the session is valid; null for the service itself. */
  readonly client: SessionClient | null;
  readonly userAgent: string;
  readonly address: string;
  readonly createdAt: Timestamp;
  readonly lastSeenAt: Timestamp;
  readonly expiresAt: Timestamp;
}

export interface SessionClient {
  readonly organizationId: string;
  readonly clientId: string;
  readonly name: string;
}

const sessionClient = `
  CASE WHEN client_id IS NOT NULL
    THEN json_build_object('organizationId', organization_id, 'clientId', client_id, 'name', client_name) END AS client`;

/** Facts about a session that are not shown to its user. */
export interface SessionOrigin {
  /**
   * The time at which an external issuer last asked the person for a proof of identity. Null when the issuer did not say, when the user signed in
   * without an issuer, or when another session admitted this one.
   */
  readonly authenticatedAt: Timestamp | null;
  /**
   * The browser in which the password was entered on the sign-in page, by the id in its cookie. A session that another session admitted has the same
   * browser as that one. Null when there is no such browser.
   */
  readonly deviceId: string | null;
  /**
   * True when an external issuer proved the identity, in this browser or in the browser that admitted the device or the client. The issuer is then
   * responsible for the second factor.
   */
  readonly isVouchedFor: boolean;
}

export type NewUserSession = UserSession & SessionOrigin;

export async function insertUserSession(db: Queryable, session: NewUserSession): Promise<void> {
  await db.query(insertUserSessionRow, [
    session.userId,
    session.sessionId,
    session.signedInBy,
    session.userAgent,
    session.address,
    new Date(session.createdAt).toISOString(),
    new Date(session.lastSeenAt).toISOString(),
    new Date(session.expiresAt).toISOString(),
    session.client?.organizationId ?? null,
    session.client?.clientId ?? null,
    session.client?.name ?? null,
    session.authenticatedAt === null ? null : new Date(session.authenticatedAt).toISOString(),
    session.deviceId,
    session.isVouchedFor,
  ]);
}

const insertUserSessionRow = statement<never>(
  "insert_user_session",
  "global",
  `INSERT INTO user_session (user_id, session_id, signed_in_by, user_agent, address, created_at, last_seen_at, expires_at,
     organization_id, client_id, client_name, authenticated_at, device_id, is_vouched_for)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
);

export interface OpenSession extends Pick<NewUserSession, "lastSeenAt" | "expiresAt">, SessionOrigin {
  readonly userName: string;
  readonly email: string;
  /** The organization's client for which the session is valid; null for the service itself. */
  readonly clientId: string | null;
}

/** Finds a session with its user, unless it was ended or the user is disabled. The caller checks whether it has expired. */
export async function findOpenSession(
  db: Queryable,
  userId: string,
  sessionId: string,
): Promise<OpenSession | undefined> {
  const [row] = await db.query(findOpenSessionRow, [userId, sessionId]);
  return row;
}

const findOpenSessionRow = statement<OpenSession>(
  "find_open_session",
  "global",
  `SELECT app_user.display_name AS "userName", app_user.email, user_session.last_seen_at AS "lastSeenAt",
     user_session.expires_at AS "expiresAt", user_session.authenticated_at AS "authenticatedAt",
     user_session.client_id AS "clientId", user_session.device_id AS "deviceId", user_session.is_vouched_for AS "isVouchedFor"
   FROM user_session
   JOIN app_user USING (user_id)
   WHERE user_session.user_id = $1 AND user_session.session_id = $2 AND user_session.ended_at IS NULL
     AND app_user.disabled_at IS NULL`,
);

/** Lists the sessions before `beforeSessionId` that are valid now, newest first. */
export async function listUserSessions(
  db: Queryable,
  userId: string,
  holding: { readonly now: Timestamp; readonly seenAfter: Timestamp },
  beforeSessionId: string | null,
  limit: number,
): Promise<UserSession[]> {
  const times = [holding.now, holding.seenAfter].map((at) => new Date(at).toISOString());
  return await db.query(listUserSessionRows, [userId, ...times, beforeSessionId, limit]);
}

const listUserSessionRows = statement<UserSession>(
  "list_user_sessions",
  "global",
  `SELECT user_id AS "userId", session_id AS "sessionId", signed_in_by AS "signedInBy", user_agent AS "userAgent", address,
     created_at AS "createdAt", last_seen_at AS "lastSeenAt", expires_at AS "expiresAt", ${sessionClient}
   FROM user_session
   WHERE user_id = $1 AND ended_at IS NULL AND expires_at > $2 AND last_seen_at > $3 AND ($4::uuid IS NULL OR session_id < $4)
   ORDER BY session_id DESC
   LIMIT $5`,
  "each-time",
);

/** Ends a session. Undefined when it does not exist, or was ended before. */
export async function endUserSession(
  db: Queryable,
  userId: string,
  sessionId: string,
  at: Timestamp,
): Promise<EndedSession | undefined> {
  const [row] = await db.query(endUserSessionRow, [userId, sessionId, new Date(at).toISOString()]);
  return row;
}

export interface EndedSession {
  readonly userId: string;
  readonly sessionId: string;
  /** The organization's client for which the session was valid; null for the service itself. */
  readonly clientId: string | null;
}

const endUserSessionRow = statement<EndedSession>(
  "end_user_session",
  "global",
  `UPDATE user_session
   SET ended_at = $3
   WHERE user_id = $1 AND session_id = $2 AND ended_at IS NULL
   RETURNING user_id AS "userId", session_id AS "sessionId", client_id AS "clientId"`,
);

/** The sessions in all clients of an organization. `clientId` restricts them to one client, and `userId` to one user. */
export interface ClientSessions {
  readonly organizationId: string;
  readonly clientId?: string | null;
  readonly userId?: string | null;
}

export async function endClientSessions(
  db: Queryable,
  { organizationId, clientId = null, userId = null }: ClientSessions,
  at: Timestamp,
): Promise<EndedSession[]> {
  return await db.query(endClientSessionRows, [organizationId, clientId, userId, new Date(at).toISOString()]);
}

const endClientSessionRows = statement<EndedSession>(
  "end_client_sessions",
  "global",
  `UPDATE user_session
   SET ended_at = $4
   WHERE organization_id = $1 AND ($2::text IS NULL OR client_id = $2) AND ($3::uuid IS NULL OR user_id = $3) AND ended_at IS NULL
   RETURNING user_id AS "userId", session_id AS "sessionId", client_id AS "clientId"`,
  "each-time",
);

/** Notes when sessions were used. `ownerId` is the user, `tokenId` the session. */
export async function touchUserSessions(db: Queryable, uses: readonly TokenUse[]): Promise<void> {
  if (uses.length === 0) return;
  await db.query(touchUserSessionRows, [
    uses.map((use) => use.ownerId),
    uses.map((use) => use.tokenId),
    uses.map((use) => new Date(use.usedAt).toISOString()),
  ]);
}

const touchUserSessionRows = statement<never>(
  "touch_user_sessions",
  "global",
  `UPDATE user_session
   SET last_seen_at = used.at
   FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS used (user_id, session_id, at)
   WHERE user_session.user_id = used.user_id AND user_session.session_id = used.session_id
     AND user_session.last_seen_at < used.at`,
);

/** Deletes at most `limit` sessions that expired before a time. Returns how many. */
export async function deleteExpiredUserSessions(
  db: Queryable,
  expiredBefore: Timestamp,
  limit: number,
): Promise<number> {
  const rows = await db.query(deleteExpiredUserSessionRows, [new Date(expiredBefore).toISOString(), limit]);
  return rows.length;
}

const deleteExpiredUserSessionRows = statement<{ sessionId: string }>(
  "delete_expired_user_sessions",
  "global",
  `DELETE FROM user_session
   WHERE (user_id, session_id) IN (SELECT user_id, session_id FROM user_session WHERE expires_at < $1 LIMIT $2)
   RETURNING session_id AS "sessionId"`,
);
