import { setTimeout as sleep } from "node:timers/promises";
import type { StoreHomes } from "@stepwell/testing/processes/store-home.ts";
import { readConfig } from "../../packages/server/src/config.ts";
import { openStore } from "../../packages/server/src/open-store.ts";
import { startService } from "../../packages/server/src/service.ts";
import type { Database, Queryable } from "../../packages/server/src/store/home/database.ts";

export interface IdleResult {
  readonly bench: "idle";
  readonly store: "postgres";
  readonly seconds: number;
  /** Searches over all organizations, for example for timers, takeovers, notices, task leases, rollups and seals. */
  readonly searches: number;
  readonly otherStatements: number;
  /** The number of queries to the shards of a Citus cluster if every search had to ask every shard. */
  readonly shardQueries: number;
  /** The number of commands that Stepwell sends to the workers of the cluster in place of these queries. */
  readonly workerCommands: number;
}

/** The default of Citus. */
const shardCount = 32;
const workerCount = 2;

/** Counts the statements of an idle node, and how many commands its searches become on a Citus cluster with two workers. */
export async function runIdleBench(homes: StoreHomes, seconds: number): Promise<IdleResult> {
  const home = await homes.fresh();
  const counts: Counts = { searches: 0, searchesOnCitus: 0, otherStatements: 0, restsUntil: new Map() };
  const service = await startService(
    readConfig({
      ...home.environment,
      STEPWELL_PORT: "0",
      STEPWELL_METRICS_PORT: "0",
      STEPWELL_LOG_LEVEL: "error",
      STEPWELL_DRAIN_SECONDS: "1",
    }),
    { open: async (config, logger) => counted(await openStore(config, logger), counts) },
  );
  try {
    // Some searches run only once, when a node starts. After this time they are over.
    await sleep(5_000);
    const before = { ...counts };
    await sleep(seconds * 1_000);
    const searches = counts.searches - before.searches;
    return {
      bench: "idle",
      store: "postgres",
      seconds,
      searches,
      otherStatements: counts.otherStatements - before.otherStatements,
      shardQueries: searches * shardCount,
      workerCommands: (counts.searchesOnCitus - before.searchesOnCitus) * workerCount,
    };
  } finally {
    await service.stop();
    await home.discard();
  }
}

interface Counts {
  searches: number;
  /** The searches that would run on a Citus cluster, where some searches pause after they found nothing. */
  searchesOnCitus: number;
  readonly restsUntil: Map<string, number>;
  otherStatements: number;
}

function counted(database: Database, counts: Counts): Database {
  const requests: Database = {
    ...database.requests,
    ...countedLane(database.requests, counts),
    get requests() {
      return requests;
    },
  };
  return { ...database, ...countedLane(database, counts), requests };
}

function countedLane(lane: Database, counts: Counts): Pick<Database, "query" | "transaction"> {
  const count =
    (query: Queryable["query"]): Queryable["query"] =>
    async (statement, values) => {
      if (statement.scope !== "maintenance") {
        counts.otherStatements += 1;
        return await query(statement, values);
      }
      counts.searches += 1;
      const now = performance.now();
      if (now < (counts.restsUntil.get(statement.name) ?? 0)) return await query(statement, values);
      counts.searchesOnCitus += 1;
      const rows = await query(statement, values);
      if (rows.length === 0) counts.restsUntil.set(statement.name, now + (statement.merged?.restMs ?? 0));
      return rows;
    };
  return {
    query: count(lane.query),
    transaction: (work, options) =>
      lane.transaction((transaction) => work({ query: count(transaction.query) }), options),
  };
}
