import { AsyncLocalStorage } from "node:async_hooks";
import type { Database, Queryable, Transaction } from "../../store/home/database.ts";

/**
 * Holds the transaction of the current request for the functions that are called by the provider, such as those of the adapter: the provider cannot
 * pass a transaction to them. Outside of a transaction, they use the database.
 */
export class ScopedStore {
  readonly #database: Database;
  readonly #scope = new AsyncLocalStorage<Transaction>();

  constructor(database: Database) {
    this.#database = database;
  }

  get current(): Queryable {
    return this.#scope.getStore() ?? this.#database;
  }

  /** Runs `work` in one transaction: in the current one, or else in a new one. */
  async transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const running = this.#scope.getStore();
    if (running !== undefined) return await work(running);
    return await this.#database.transaction((transaction) => this.#scope.run(transaction, () => work(transaction)));
  }
}
