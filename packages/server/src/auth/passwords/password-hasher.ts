import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { hash, parseOptions, verify } from "@node-rs/argon2";
import { ServiceError } from "../../core/service-error.ts";
import { normalizePassword } from "./password-rules.ts";

/** The operations on a password that are allowed during a turn. */
export interface Hashing {
  /** Hashes a password in its normalized form. */
  hash(password: string): Promise<string>;
  /** Compares a normalized password with a hash. Without a stored hash it takes the same time and returns false. */
  matches(password: string, storedHash: string | null): Promise<boolean>;
}

/**
 * OWASP's password storage cheat sheet recommends these parameters of argon2id first: 19 MiB, 2 passes, 1 lane. The library uses argon2id by default.
 */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;
const saltBytes = 16;

/**
 * The number of hashes that are computed at once: one for every two processors, but at least one and at most two. So the rest of the service keeps
 * processors for itself, and the hashes take little memory.
 */
const maxAtOnce = Math.min(2, Math.max(1, Math.floor(availableParallelism() / 2)));

/** The queue holds the work of a few seconds. Most clients give up if they wait longer, and a flood of guesses must not fill the memory. */
const maxWaiting = 250;

/** Hashes passwords with argon2id, off the main thread. Calls get a turn in the order in which they come; when too many wait, new ones fail. */
export class PasswordHasher {
  readonly #noHash = unmatchedHash();
  readonly #waiting: (() => void)[] = [];
  #runningCount = 0;
  #hashCount = 0;

  get hashCount(): number {
    return this.#hashCount;
  }

  /** Runs `work` when its turn comes. Throws `ServiceError` UnavailableError when too many other calls wait already. */
  async inTurn<Result>(work: (hashing: Hashing) => Promise<Result>): Promise<Result> {
    await this.#turn();
    try {
      return await work(this.#hashing);
    } finally {
      const next = this.#waiting.shift();
      // The turn is passed directly to the next call in the queue, so that no new call can take it.
      if (next === undefined) this.#runningCount -= 1;
      else next();
    }
  }

  readonly #hashing: Hashing = {
    hash: async (password) => {
      this.#hashCount += 1;
      const normalized = normalizePassword(password);
      if (normalized === undefined) throw new Error("This text cannot be a password.");
      return await hash(normalized, cost);
    },
    matches: async (password, storedHash) => {
      this.#hashCount += 1;
      return await verify(storedHash ?? this.#noHash, password);
    },
  };

  #turn(): Promise<void> | undefined {
    if (this.#runningCount < maxAtOnce) {
      this.#runningCount += 1;
      return undefined;
    }
    if (this.#waiting.length >= maxWaiting) {
      const detail = "Too many passwords are being checked at the moment. Try again in a few seconds.";
      throw new ServiceError("UnavailableError", detail, { retryAfterSeconds: 3 });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** Hashes a password without waiting for a turn, for commands that set a password without a running service. */
export async function hashAlone(password: string): Promise<string> {
  return await new PasswordHasher().inTurn((hashing) => hashing.hash(password));
}

/** True when a hash was made with other parameters than the present ones, and should be made again at the next sign-in. */
export function isOutdated(storedHash: string): boolean {
  const { memoryCost, timeCost, parallelism, outputLen } = parseOptions(storedHash);
  return (
    memoryCost !== cost.memoryCost ||
    timeCost !== cost.timeCost ||
    parallelism !== cost.parallelism ||
    outputLen !== cost.outputLen
  );
}

/** Makes a hash with the present parameters that belongs to no password: it has random bytes instead of a result. */
function unmatchedHash(): string {
  const [salt, result] = [saltBytes, cost.outputLen].map((length) =>
    randomBytes(length).toString("base64").replaceAll("=", ""),
  );
  return `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${salt}$${result}`;
}
