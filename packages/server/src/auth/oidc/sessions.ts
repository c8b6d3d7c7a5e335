import type { Timestamp } from "../../core/time.ts";
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
  /** How the person signed in: with a password, by a link, at an issuer, on a device or in an application. */
  readonly signedInBy: string;
  /** The organization's OAuth client that the session is for; left out for the service itself. */
  readonly client?: SessionClient;
  readonly grounds: SessionGrounds;
  readonly userAgent: string;
  readonly address: string;
}

/**
 * The grounds on which a session begins. `password`: the password that was checked, identified by the time at which it was set. `session`: the
 * browser session in which the person authorized a device or an organization's client. A password or a session may have become invalid after its
 * check, so it is checked again. `proof`: a proof that works once and was used up. `issuer`: an external issuer, which is responsible for the
 * second factor too, and may say when it last asked the person to prove who they are.
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

/** A request to end a session, with the facts that the account's activity records. */
export interface SessionEnd extends SessionKey {
  readonly action: AccountAction;
  readonly address: string;
}

const hourMs = 3_600_000;
const touchEveryMs = 60_000;
const maxUserAgentLength = 300;

/** The sessions of people who signed in. Everything that was issued in a session ends with it. */
export class Sessions {
  readonly #parts: SessionsParts;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
  }

  /**
   * Begins a session and returns its id, which is new for each sign-in, so that nobody can know it before. Returns undefined when the grounds are no
   * longer valid: a change of the password ends all other sessions, and no session may begin with the old password afterwards.
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

  /** Returns the session if it is open, and notes its use, which resets the idle time. */
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

  /** Returns the time at which the session ends if nobody uses it any more. */
  endsAt({ lastSeenAt, expiresAt }: Pick<OpenSession, "lastSeenAt" | "expiresAt">): Timestamp {
    return Math.min(expiresAt, lastSeenAt + this.#parts.sessionIdleHours * hourMs);
  }

  /** Returns a time for lists of sessions: a session has ended if it was last seen before this time. */
  seenAfter(): Timestamp {
    return this.#parts.now() - this.#parts.sessionIdleHours * hourMs;
  }

  /**
   * Ends a session with everything that was issued in it. Returns false when there is no such open session. A user who ends a session in a client of
   * an organization with EndSession also withdraws the consent: otherwise a browser that is signed in would sign the client in again without asking.
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

/** Returns what the new session takes over from its grounds; undefined when the grounds are no longer valid. */
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
      // A person who authorizes a device or a client does not prove again who they are.
      const session = await findOpenSession(transaction, userId, grounds.sessionId);
      return session && { ...session, authenticatedAt: null };
    }
    case "proof":
      return { authenticatedAt: null, deviceId: null, isVouchedFor: false };
    case "issuer":
      return { authenticatedAt: grounds.authenticatedAt, deviceId: null, isVouchedFor: true };
  }
}

/** Removes all characters except printable ASCII: PostgreSQL takes no NUL, and lists show this text, which a stranger may have sent. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "");
}
