import { BriefCache } from "../../auth/credentials/brief-cache.ts";
import type { Actor } from "../../core/actor.ts";
import type { Database } from "../../store/home/database.ts";
import { findUsers } from "../../store/people/users.ts";

/** Names are only shown, so a changed name may appear late. In return, a job that is polled costs no look-up for each answer. */
const maxAgeMs = 10_000;
const maxRemembered = 20_000;

export class UserNames {
  readonly #database: Database;
  readonly #names = new BriefCache<string | undefined>(maxAgeMs, maxRemembered);

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the names of those actors who are known people, by their user ids. */
  async of(actors: readonly Actor[]): Promise<ReadonlyMap<string, string>> {
    const userIds = [...new Set(actors.flatMap(({ type, id }) => (type === "user" ? [id] : [])))];
    const names = await Promise.all(userIds.map((userId) => this.#names.get(userId, () => this.#look(userId))));
    return new Map(
      userIds.flatMap((userId, index) => (names[index] === undefined ? [] : [[userId, names[index]] as const])),
    );
  }

  async #look(userId: string): Promise<string | undefined> {
    return (await findUsers(this.#database, [userId]))[0]?.displayName;
  }
}
