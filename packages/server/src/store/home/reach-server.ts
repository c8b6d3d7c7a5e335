import { setTimeout as delay } from "node:timers/promises";
import type { Database } from "./database.ts";
import { readServerFacts, type ServerFacts } from "./server-facts.ts";
import { DatabaseUnusableError, serverTrouble } from "./server-trouble.ts";

export interface ReachOptions {
  readonly databaseUrl: string;
  /** The time for which connecting is tried again when waiting may help. */
  readonly timeoutMs: number;
  /** Called once with the reason, when the first try failed and another will follow. */
  readonly onWaiting: (reason: string) => void;
}

const oldestVersion = 15;
const pauseMs = 250;

/** Waits for the server, and returns its facts. Throws `DatabaseUnusableError` when it cannot be used. */
export async function reachServer(database: Database, options: ReachOptions): Promise<ServerFacts> {
  const end = performance.now() + options.timeoutMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return requireVersion(await readServerFacts(database));
    } catch (cause) {
      const trouble = serverTrouble(cause, options.databaseUrl);
      if (trouble === undefined) throw cause;
      if (!trouble.mayPass || performance.now() + pauseMs > end) throw trouble.error;
      if (isFirst) options.onWaiting(trouble.error.message);
      await delay(pauseMs);
    }
  }
}

function requireVersion(facts: ServerFacts): ServerFacts {
  if (facts.versionNumber >= oldestVersion * 10_000) return facts;
  throw new DatabaseUnusableError(
    `the server is PostgreSQL ${facts.version}, and Stepwell needs ${oldestVersion} or newer. Upgrade it, or name another server.`,
  );
}
