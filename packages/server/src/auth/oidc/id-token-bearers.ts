import type { Timestamp } from "../../core/time.ts";
import type { Database } from "../../store/home/database.ts";
import { findOpenSession } from "../../store/people/user-sessions.ts";
import type { CallingClient } from "../caller.ts";
import { organizationOfClient } from "../credentials/token-form.ts";
import { type IdTokens, looksLikeIdToken } from "./id-token.ts";
import { mayActFor } from "./organization-clients.ts";
import type { Sessions } from "./sessions.ts";

/** The user who sends an id token as the Bearer value. */
export interface SignedInUser {
  readonly userId: string;
  readonly userName: string;
  readonly sessionId: string;
  /** The organization's OAuth client that acts for the user; undefined for one of the service's own clients. */
  readonly client: CallingClient | undefined;
  /** The time when the token or the session ends, whichever comes first. */
  readonly expiresAt: Timestamp;
  readonly lastSeenAt: Timestamp;
  /** The time when an external issuer last asked the user to prove who they are; null if no issuer reported that time. */
  readonly authenticatedAt: Timestamp | null;
  /** True when an external issuer vouched for the user at the beginning of the session. */
  readonly isVouchedFor: boolean;
}

/**
 * An id token counts until it expires, but not longer than its session: it ends early when the session is ended or the user is disabled. An id token
 * of an organization's client counts only while the client and its organization exist, and while the user is a member who agreed to the client.
 */
export class IdTokenBearers {
  readonly #database: Database;
  readonly #idTokens: IdTokens;
  readonly #sessions: Sessions;

  constructor(parts: { readonly database: Database; readonly idTokens: IdTokens; readonly sessions: Sessions }) {
    this.#database = parts.database;
    this.#idTokens = parts.idTokens;
    this.#sessions = parts.sessions;
  }

  /** Tells by the form alone whether a value may be an id token, and is therefore worth a look-up. */
  mayBe(bearer: string): boolean {
    return looksLikeIdToken(bearer);
  }

  async find(bearer: string): Promise<SignedInUser | undefined> {
    const subject = await this.#idTokens.verify(bearer);
    if (subject === undefined) return undefined;
    const { userId, sessionId, clientId } = subject;
    const session = await findOpenSession(this.#database, userId, sessionId);
    if (session === undefined || session.clientId !== clientId) return undefined;
    if (clientId !== null && !(await mayActFor(this.#database, clientId, userId))) return undefined;
    const { userName, lastSeenAt, authenticatedAt, isVouchedFor } = session;
    const expiresAt = Math.min(subject.expiresAt, this.#sessions.endsAt(session));
    const client = callingClientOf(clientId);
    return { userId, userName, sessionId, client, expiresAt, lastSeenAt, authenticatedAt, isVouchedFor };
  }
}

function callingClientOf(clientId: string | null): CallingClient | undefined {
  const organizationId = clientId === null ? undefined : organizationOfClient(clientId);
  return clientId === null || organizationId === undefined ? undefined : { clientId, organizationId };
}
