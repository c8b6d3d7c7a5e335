import type { Timestamp } from "../../core/job/job-state.ts";
import type { Transaction } from "../../store/home/database.ts";
import type { AccountAction } from "../../store/people/account-activity.ts";
import { deleteGrants } from "../../store/people/oidc-records.ts";
import { holdCredentials } from "../../store/people/user-credentials.ts";
import {
  endUserSession,
  findOpenSession,
  insertUserSession,
  type OpenSession,
  type SessionClient,
  type SessionOrigin,
  touchUserSessions,
} from "../../store/people/user-sessions.ts";
import { recordAccountActivity } from "../account-activity.ts";
import { grantHashesOf, grantHashOf } from "./grant-id.ts";
import { withdrawConsent } from "./organization-clients.ts";
import type { ScopedStore } from "./scoped-store.ts";

export interface SessionsParts {
  readonly store: ScopedStore;
  /** The database's time. */
  readonly now: () => Timestamp;
  readonly newId: () => string;
  readonly sessionHours: number;
  readonly sessionIdleHours: number;
}

export interface NewSession {
  readonly userId: string;
  /** What proved who it is. */
  readonly signedInBy: string;
  /** The client of an organization that the session is good for; left out: the service itself. */
  readonly client?: SessionClient;
  readonly grounds: SessionGrounds;
  readonly userAgent: string;
  readonly address: string;
}

/**
 * What a session is begun on, which may be gone by the time it begins: the password that was checked, by when it was set, or the session in a browser
 * from which a device or an organization's client is let in. `proof`: what holds once, and was used up. `issuer`: an issuer outside, which answers for
 * the second factor too, and may say when it last asked the person to prove who they are.
 */
export type SessionGrounds =
  | { readonly type: "password"; readonly passwordChangedAt: Timestamp | null; readonly deviceId: string | null }
  | { readonly type: "session"; readonly sessionId: string }
  | { readonly type: "proof" }
  | { readonly type: "issuer"; readonly authenticatedAt: Timestamp | null };

export interface SessionKey {
  readonly userId: string;
  readonly sessionId: string;
}

/** What is told of the end of a session in the account's activity. */
export interface SessionEnd extends SessionKey {
  readonly action: AccountAction;
  readonly address: string;
}

const hourMs = 3_600_000;
const touchEveryMs = 60_000;
const maxUserAgentLength = 300;

/** Sign-ins of people: each is a session, and what was issued in it holds only while it does. */
export class Sessions {
  readonly #parts: SessionsParts;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
  }

  /**
   * Answers the session's id: a new one for each sign-in, so that nobody can have known it before. Undefined when what it is begun on does not hold
   * any more: who changes a password ends all sessions, and none may begin behind their back.
   */
  async begin(session: NewSession): Promise<string | undefined> {
    const { userId, signedInBy, client, userAgent, address, grounds } = session;
    const { store, now, newId, sessionHours } = this.#parts;
    const createdAt = now();
    const sessionId = newId();
    return await store.transaction(async (transaction) => {
      const origin = await originOf(transaction, userId, grounds);
      if (origin === undefined) return undefined;
      const { authenticatedAt, deviceId, isVouchedFor } = origin;
      await insertUserSession(transaction, {
        userId,
        sessionId,
        signedInBy,
        client: client ?? null,
        userAgent: printable(userAgent).slice(0, maxUserAgentLength),
        address,
        createdAt,
        lastSeenAt: createdAt,
        expiresAt: createdAt + sessionHours * hourMs,
        authenticatedAt,
        deviceId,
        isVouchedFor,
      });
      const application = client && { clientId: client.clientId, organizationId: client.organizationId };
      await this.#record({ userId, sessionId, action: "signed-in", address }, { by: signedInBy, ...application });
      return sessionId;
    });
  }

  /** The session, if it holds; its use counts against its idle life. */
  async use({ userId, sessionId }: SessionKey): Promise<OpenSession | undefined> {
    const { store, now } = this.#parts;
    const session = await findOpenSession(store.current, userId, sessionId);
    const at = now();
    if (session === undefined || this.endsAt(session) <= at) return undefined;
    if (at - session.lastSeenAt > touchEveryMs) {
      await touchUserSessions(store.current, [{ ownerId: userId, tokenId: sessionId, usedAt: at }]);
    }
    return session;
  }

  /** When it ends if nobody uses it any more. */
  endsAt({ lastSeenAt, expiresAt }: Pick<OpenSession, "lastSeenAt" | "expiresAt">): Timestamp {
    return Math.min(expiresAt, lastSeenAt + this.#parts.sessionIdleHours * hourMs);
  }

  /** For lists: what was seen before this is over. */
  seenAfter(): Timestamp {
    return this.#parts.now() - this.#parts.sessionIdleHours * hourMs;
  }

  /**
   * Ends a session with all that was issued in it. False when there is none, or it was ended before. A user who ends a session in a client of an organization
   * takes back that they agreed to the client: otherwise a browser that is signed in would let it in again without asking.
   */
  async end(end: SessionEnd): Promise<boolean> {
    const { store, now } = this.#parts;
    const { userId, sessionId } = end;
    const at = now();
    return await store.transaction(async (transaction) => {
      await deleteGrants(transaction, grantHashesOf(userId, sessionId));
      const ended = await endUserSession(transaction, userId, sessionId, at);
      if (ended === undefined) return false;
      if (ended.clientId !== null) await this.#leaveClient(transaction, end, ended.clientId, at);
      await this.#record(end, {});
      return true;
    });
  }

  async #leaveClient(
    transaction: Transaction,
    { userId, sessionId, action }: SessionEnd,
    clientId: string,
    at: Timestamp,
  ): Promise<void> {
    const others = action === "session-ended" ? await withdrawConsent(transaction, { clientId, userId }, at) : [];
    const sessionIds = [sessionId, ...others.map((other) => other.sessionId)];
    await deleteGrants(
      transaction,
      sessionIds.map((one) => grantHashOf({ userId, sessionId: one, clientId })),
    );
  }

  async #record(
    { userId, sessionId, action, address }: SessionEnd,
    details: Readonly<Record<string, string>>,
  ): Promise<void> {
    const activity = { userId, action, address, details: { sessionId, ...details } };
    await recordAccountActivity(this.#parts.store.current, this.#parts, activity);
  }
}

/** Answers the part that the new session takes over from its grounds; undefined when those do not hold any more. */
async function originOf(
  transaction: Transaction,
  userId: string,
  grounds: SessionGrounds,
): Promise<SessionOrigin | undefined> {
  const credentials = await holdCredentials(transaction, userId);
  if (credentials === undefined || credentials.disabledAt !== null) return undefined;
  switch (grounds.type) {
    case "password": {
      const { passwordChangedAt, deviceId } = grounds;
      const isSame = credentials.passwordHash !== null && credentials.passwordChangedAt === passwordChangedAt;
      return isSame ? { authenticatedAt: null, deviceId, isVouchedFor: false } : undefined;
    }
    case "session": {
      // Whoever lets a device or a client in proves nothing anew.
      const session = await findOpenSession(transaction, userId, grounds.sessionId);
      return session && { ...session, authenticatedAt: null };
    }
    case "proof":
      return { authenticatedAt: null, deviceId: null, isVouchedFor: false };
    case "issuer":
      return { authenticatedAt: grounds.authenticatedAt, deviceId: null, isVouchedFor: true };
  }
}

/** PostgreSQL takes no NUL, and a list shows what a stranger sent. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "");
}
