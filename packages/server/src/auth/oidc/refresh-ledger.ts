import { randomUUID } from "node:crypto";
import type { Timestamp } from "../../core/time.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";
import { findOidcRecord } from "../../store/people/oidc-records.ts";
import {
  claimRefreshExchange,
  deleteRefreshExchange,
  storeRefreshAnswer,
} from "../../store/people/refresh-exchanges.ts";
import { hashName } from "./grant-id.ts";
import type { ScopedStore } from "./scoped-store.ts";

export interface RefreshLedgerParts {
  readonly store: ScopedStore;
  readonly secrets: SecretBox;
  /** The database's time. */
  readonly now: () => Timestamp;
}

/** The answer of the token endpoint. */
export interface RefreshAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface RefreshRequest {
  readonly token: string;
  readonly clientId: string;
}

/** For this long, a client that lost the answer, or asked twice at the same time, gets the same answer again. A later request counts as reuse. */
const answerMs = 30_000;

/**
 * Guards the exchange of refresh tokens, each of which works once. The exchange and its entry here are made in one transaction: when a node dies,
 * either the token is still valid, or the answer can be fetched again.
 */
export class RefreshLedger {
  readonly #parts: RefreshLedgerParts;
  readonly #running = new Map<string, Promise<RefreshAnswer>>();

  constructor(parts: RefreshLedgerParts) {
    this.#parts = parts;
  }

  async exchange(request: RefreshRequest, exchange: () => Promise<RefreshAnswer>): Promise<RefreshAnswer> {
    const tokenHash = hashName(request.token);
    // Equal requests on one node wait here. In the database, each would hold a connection while it waits.
    const key = `${tokenHash.toString("hex")} ${request.clientId}`;
    const running = this.#running.get(key);
    if (running !== undefined) return await running;
    const answer = this.#exchangeOnce(tokenHash, request.clientId, exchange).finally(() => this.#running.delete(key));
    this.#running.set(key, answer);
    return await answer;
  }

  async #exchangeOnce(
    tokenHash: Buffer,
    clientId: string,
    exchange: () => Promise<RefreshAnswer>,
  ): Promise<RefreshAnswer> {
    const { store, secrets, now } = this.#parts;
    // For a token that was never issued, no entry is made.
    const isKnown = (await findOidcRecord(store.current, "RefreshToken", tokenHash)) !== undefined;
    if (!isKnown) return await exchange();
    const context = tokenHash.toString("hex");
    return await undoneWhenFailed((undo) =>
      store.transaction(async (transaction) => {
        const claimId = randomUUID();
        const at = now();
        const held = await claimRefreshExchange(transaction, { tokenHash, clientId, claimId }, at, at - answerMs);
        if (held.claimId !== claimId) {
          // Another client may not use this token, and gets the provider's usual answer for that.
          if (held.clientId !== clientId || held.answer === null) return await exchange();
          return JSON.parse(secrets.open(purpose, context, held.answer).toString("utf8")) as RefreshAnswer;
        }
        const answer = await exchange();
        if (answer.status >= 500) undo(answer);
        if (answer.status === 200) {
          await storeRefreshAnswer(transaction, tokenHash, secrets.seal(purpose, context, JSON.stringify(answer)));
        } else {
          await deleteRefreshExchange(transaction, tokenHash);
        }
        return answer;
      }),
    );
  }
}

const purpose = "refresh-exchange";

/** Runs `work` and returns its answer. If `work` calls `undo`, everything is rolled back, so that the token stays as valid as it was. */
async function undoneWhenFailed(
  work: (undo: (answer: RefreshAnswer) => never) => Promise<RefreshAnswer>,
): Promise<RefreshAnswer> {
  try {
    return await work((answer) => {
      throw new Undone(answer);
    });
  } catch (error) {
    if (error instanceof Undone) return error.answer;
    throw error;
  }
}

class Undone extends Error {
  readonly answer: RefreshAnswer;

  constructor(answer: RefreshAnswer) {
    super("The exchange failed and is undone.");
    this.answer = answer;
  }
}
