import type { Timestamp } from "../core/job-state.ts";
import type { Database } from "../store/database.ts";
import { type TokenUse, touchApiTokens } from "../store/tokens.ts";
import { touchUserTokens } from "../store/users.ts";
import type { TokenKind } from "./token-form.ts";

/** A token in use is written down this often, not with every request. */
const everyMs = 60_000;

/** Collects when tokens were last used, and writes it off the requests' path. */
export class LastUse {
  #used: Record<TokenKind, Map<string, TokenUse>> = { organization: new Map(), user: new Map() };

  note(kind: TokenKind, ownerId: string, tokenId: string, usedAt: Timestamp, writtenAt: Timestamp | null): void {
    if (writtenAt !== null && usedAt - writtenAt < everyMs) return;
    this.#used[kind].set(tokenId, { ownerId, tokenId, usedAt });
  }

  /** Writes what was noted since the last time. A maintenance duty calls it; answers how many tokens were written. */
  async flush(database: Database): Promise<number> {
    const { organization, user } = this.#used;
    this.#used = { organization: new Map(), user: new Map() };
    await touchApiTokens(database, [...organization.values()]);
    await touchUserTokens(database, [...user.values()]);
    return organization.size + user.size;
  }
}
