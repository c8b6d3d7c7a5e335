import { type Logger, pino } from "pino";
import type { Config } from "./config.ts";
import { judgeServer } from "./doctor/server.ts";
import { judgeSurroundings } from "./doctor/surroundings.ts";
import type { Database } from "./store/home/database.ts";
import type { SyncOptions } from "./store/home/durable-file-system.ts";
import { migrate } from "./store/home/migrate.ts";
import { examinePooler } from "./store/home/pooler.ts";
import { openPostgres, type PostgresOptions } from "./store/home/postgres.ts";
import { reachServer } from "./store/home/reach-server.ts";
import { readServerFacts, type ServerFacts } from "./store/home/server-facts.ts";
import { DatabaseUnusableError, forgetfulPooler, serverTrouble } from "./store/home/server-trouble.ts";

/**
 * Opens the store that the configuration names, and brings its schema up to date. Logs what the checks in `doctor/` find: a warning for each thing
 * that could be safer, and an error for each problem.
 */
export async function openStore(config: Config, logger: Logger = pino({ level: "silent" })): Promise<Database> {
  let isPooled = false;
  const database = await openHome(config, {
    onSyncFailed: (error) => {
      logger.fatal(
        { err: error },
        "the disk refused to sync: the process ends now, and the next start recovers from the log",
      );
      process.exit(1);
    },
    onPanic: (reason) => {
      logger.fatal(
        { reason },
        "the embedded store failed: the process ends now, and the next start recovers from its log",
      );
      process.exit(1);
    },
    onConnectionLost: (error) => logger.warn({ reason: error.message }, "a connection to the database was lost"),
    onPooler: () => {
      isPooled = true;
    },
    onFull: (isFull) => {
      if (isFull) logger.error("the store's disk is full: this node is not ready until there is room");
      else logger.warn("the store's disk has room again");
    },
    onWorker: (worker, reason) => {
      if (reason === undefined) logger.warn({ worker }, "a Citus worker answers again");
      else logger.error({ worker, reason }, "a Citus worker does not answer: the jobs of its organizations wait");
    },
  });
  try {
    const facts = await readFacts(database, config, logger);
    if (isPooled && config.preparedStatements) await requirePreparedStatements(config);
    for (const { level, check, detail } of [...judgeServer(facts, config), ...judgeSurroundings(config)]) {
      if (level !== "ok") logger[level === "problem" ? "error" : "warn"]({ check }, detail);
    }
    await migrate(database);
    await database.learnShards();
    return database;
  } catch (error) {
    await database.close();
    throw explained(config, error);
  }
}

/** Callbacks for events of a store while it is open. */
export interface HomeEvents extends Partial<SyncOptions> {
  readonly onConnectionLost?: (error: Error) => void;
  readonly onPooler?: () => void;
  readonly onFull?: (isFull: boolean) => void;
  readonly onWorker?: PostgresOptions["onWorker"];
  readonly onPanic?: (reason: string) => void;
}

/** Opens the store without changing its schema. */
export async function openHome(config: Config, events: HomeEvents): Promise<Database> {
  if (config.databaseUrl !== undefined) {
    return openPostgres({
      databaseUrl: config.databaseUrl,
      poolSize: config.databasePoolSize,
      timeoutMs: config.databaseTimeoutMs,
      readTimeoutMs: config.readTimeoutMs,
      preparedStatements: config.preparedStatements,
      onConnectionLost: () => {},
      onPooler: () => {},
      onFull: () => {},
      onWorker: () => {},
      ...events,
    });
  }
  // PGlite is loaded only for an embedded store.
  const { openEmbedded } = await import("./store/home/embedded.ts");
  return await openEmbedded({
    dataDir: config.dataDir,
    bufferMb: config.embeddedBufferMb,
    timeoutMs: config.databaseTimeoutMs,
    readTimeoutMs: config.readTimeoutMs,
    onFull: () => {},
    onPanic: (reason) => {
      throw new Error(`The embedded store failed: ${reason}.`);
    },
    onSyncFailed: (error) => {
      throw error;
    },
    ...events,
  });
}

/** Throws when a pooler drops prepared statements. Otherwise requests would fail at random, without a hint at the reason. */
async function requirePreparedStatements({ databaseUrl = "", databaseTimeoutMs }: Config): Promise<void> {
  const { keepsPreparedStatements } = await examinePooler(databaseUrl, databaseTimeoutMs);
  if (!keepsPreparedStatements) throw new DatabaseUnusableError(forgetfulPooler);
}

async function readFacts(database: Database, config: Config, logger: Logger): Promise<ServerFacts> {
  const { databaseUrl, databaseStartSeconds: seconds } = config;
  if (databaseUrl === undefined) return await readServerFacts(database);
  const onWaiting = (reason: string) => logger.warn({ reason, seconds }, "waiting for the database");
  return await reachServer(database, { databaseUrl, timeoutMs: seconds * 1_000, onWaiting });
}

/** Returns the error that stopped a start. If the database caused it, returns an error about DATABASE_URL instead. */
export function explained({ databaseUrl }: Config, error: unknown): unknown {
  return (databaseUrl === undefined ? undefined : serverTrouble(error, databaseUrl)?.error) ?? error;
}
