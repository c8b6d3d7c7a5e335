import type { Timestamp } from "../../core/job/job-state.ts";
import type { Database } from "../../store/home/database.ts";
import { findOpenSession } from "../../store/people/user-sessions.ts";
import { type IdTokens, looksLikeIdToken } from "../oidc/id-token.ts";
import type { Sessions } from "../oidc/sessions.ts";

/** Who sends an id token as the Bearer value. */
export interface SignedInUser {
  readonly userId: string;
  readonly userName: string;
  readonly sessionId: string;
  /** When the token or the session ends, whichever is first. */
  readonly expiresAt: Timestamp;
  readonly lastSeenAt: Timestamp;
  /** When an issuer outside last asked them to prove who they are, where it said so. */
  readonly authenticatedAt: Timestamp | null;
  /** An issuer outside vouched for them when the session began. */
  readonly isVouchedFor: boolean;
}

/** An id token counts as long as its session does: one that was ended, or whose user was disabled, is worth nothing before its time is over. */
export class IdTokenBearers {
  readonly #database: Database;
  readonly #idTokens: IdTokens;
  readonly #sessions: Sessions;

  constructor(parts: { readonly database: Database; readonly idTokens: IdTokens; readonly sessions: Sessions }) {
    this.#database = parts.database;
    this.#idTokens = parts.idTokens;
    this.#sessions = parts.sessions;
  }

  /** Without any look at what it says: whether it is worth one. */
  mayBe(bearer: string): boolean {
    return looksLikeIdToken(bearer);
  }

  async find(bearer: string): Promise<SignedInUser | undefined> {
    const subject = await this.#idTokens.verify(bearer);
    if (subject === undefined) return undefined;
    const { userId, sessionId } = subject;
    const session = await findOpenSession(this.#database, userId, sessionId);
    if (session === undefined) return undefined;
    const { userName, lastSeenAt, authenticatedAt, isVouchedFor } = session;
    const expiresAt = Math.min(subject.expiresAt, this.#sessions.endsAt(session));
    return { userId, userName, sessionId, expiresAt, lastSeenAt, authenticatedAt, isVouchedFor };
  }
}
