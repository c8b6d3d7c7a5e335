import type { Timestamp } from "../../core/time.ts";
import { touchApiTokens } from "../../store/access/tokens.ts";
import type { Database } from "../../store/home/database.ts";
import type { TokenUse } from "../../store/people/token-use.ts";
import { touchUserSessions } from "../../store/people/user-sessions.ts";
import { touchUserTokens } from "../../store/people/user-tokens.ts";
import type { TokenKind } from "./token-form.ts";

/** The kinds of credentials whose last use is stored. A request with an id token counts as a use of the session. */
export type CredentialKind = TokenKind | "session";

/** The last use of a token is stored at most this often, not with every request. */
const everyMs = 60_000;

/** Collects the times when tokens were last used, and writes them later, so that no request waits for the write. */
export class LastUse {
  #used = nothingUsed();

  note(kind: CredentialKind, ownerId: string, tokenId: string, usedAt: Timestamp, writtenAt: Timestamp | null): void {
    if (writtenAt !== null && usedAt - writtenAt < everyMs) return;
    this.#used[kind].set(tokenId, { ownerId, tokenId, usedAt });
  }

  /** Writes the uses that were noted since the last flush. Returns the number of tokens and sessions whose last use was written. */
  async flush(database: Database): Promise<number> {
    const { organization, user, session } = this.#used;
    this.#used = nothingUsed();
    await touchApiTokens(database, [...organization.values()]);
    await touchUserTokens(database, [...user.values()]);
    await touchUserSessions(database, [...session.values()]);
    return organization.size + user.size + session.size;
  }
}

function nothingUsed(): Record<CredentialKind, Map<string, TokenUse>> {
  return { organization: new Map(), user: new Map(), session: new Map() };
}
