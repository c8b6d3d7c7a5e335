import type { Config } from "../../config.ts";
import type { Timestamp } from "../../core/time.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";
import type { Database } from "../../store/home/database.ts";
import { deleteExpiredOidcRecords } from "../../store/people/oidc-records.ts";
import { deleteOldRefreshExchanges } from "../../store/people/refresh-exchanges.ts";
import { deleteExpiredUserSessions } from "../../store/people/user-sessions.ts";
import { ClientOrigins } from "./client-origins.ts";
import { IdTokens } from "./id-token.ts";
import { issuerOf } from "./provider.ts";
import { RefreshLedger } from "./refresh-ledger.ts";
import { ScopedStore } from "./scoped-store.ts";
import { Sessions } from "./sessions.ts";
import { SigningKeys } from "./signing-keys.ts";

export interface OpenIdParts {
  readonly config: Config;
  readonly database: Database;
  readonly secrets: SecretBox;
  /** The database's time. */
  readonly now: () => Timestamp;
  readonly newId: () => string;
  /** The address at which clients reach the service, without a slash at the end. It is known once the service listens. */
  readonly publicUrl: () => string;
}

/** The parts of sign-in by OpenID Connect that need no loaded provider: sessions, keys, and the tokens that they sign. */
export class OpenId {
  readonly store: ScopedStore;
  readonly sessions: Sessions;
  readonly signingKeys: SigningKeys;
  readonly idTokens: IdTokens;
  readonly ledger: RefreshLedger;
  readonly clientOrigins: ClientOrigins;
  readonly #database: Database;
  readonly #now: () => Timestamp;

  constructor(parts: OpenIdParts) {
    const { config, database, now, publicUrl } = parts;
    this.#database = database;
    this.#now = now;
    this.store = new ScopedStore(database);
    this.sessions = new Sessions({ ...parts, ...config, store: this.store });
    this.signingKeys = new SigningKeys(parts);
    this.ledger = new RefreshLedger({ ...parts, store: this.store });
    this.clientOrigins = new ClientOrigins({ database, now, maxUnknownPerMinute: config.maxRefusalsPerMinute });
    this.idTokens = new IdTokens({
      issuer: () => issuerOf(publicUrl()),
      now,
      publicKey: (keyId) => this.signingKeys.publicKey(keyId),
    });
  }

  /** The maintenance duties of sign-in, which run on every node. */
  duties() {
    return [
      { name: "signing-keys", everyMs: hourMs, runOnce: () => this.#rotateKeys() },
      { name: "sign-in-expiry", everyMs: 5 * minuteMs, runOnce: () => this.#forgetExpired() },
    ];
  }

  async #rotateKeys(): Promise<undefined> {
    await this.signingKeys.rotate();
  }

  /** Deletes expired records, a bounded number at a time. */
  async #forgetExpired(): Promise<{ readonly againInMs: number } | undefined> {
    const now = this.#now();
    const deleted = [
      await deleteExpiredOidcRecords(this.#database, now - minuteMs, maxRowsAtOnce),
      await deleteOldRefreshExchanges(this.#database, now - minuteMs, maxRowsAtOnce),
      await deleteExpiredUserSessions(this.#database, now - keepSessionsMs, maxRowsAtOnce),
    ];
    return deleted.includes(maxRowsAtOnce) ? { againInMs: 0 } : undefined;
  }
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const maxRowsAtOnce = 2_000;
/** Ended sessions are kept for a while, because entries of the account's activity name them. */
const keepSessionsMs = 30 * 24 * hourMs;
