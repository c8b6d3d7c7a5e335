import { AsyncLocalStorage } from "node:async_hooks";
import type { Database, Queryable, Transaction } from "../../store/home/database.ts";

/**
 * The store as the parts of the provider see it: while a request runs in a transaction, that transaction. The provider calls them from
 * deep inside, with no way to hand a transaction through.
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

  /** Everything that `work` reads and writes is one transaction; part of the one that runs already, if there is one. */
  async transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const running = this.#scope.getStore();
    if (running !== undefined) return await work(running);
    return await this.#database.transaction((transaction) => this.#scope.run(transaction, () => work(transaction)));
  }
}
