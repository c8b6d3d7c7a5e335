import { type Logger, pino } from "pino";
import { Authenticator } from "./auth/authenticator.ts";
import { ExternalBearers } from "./auth/external/bearers.ts";
import type { ExternalProvider } from "./auth/external/provider.ts";
import { readProviderFile } from "./auth/external/provider-file.ts";
import { SingleSignOn } from "./auth/external/single-sign-on.ts";
import { describeTrouble } from "./auth/external/trouble.ts";
import { OwnLimits } from "./auth/limits/own-limits.ts";
import { ExceededQuota, RateLimits } from "./auth/limits/rate-limits.ts";
import { IdTokenBearers } from "./auth/oidc/id-token-bearers.ts";
import { OpenId } from "./auth/oidc/open-id.ts";
import { PasswordSignIn } from "./auth/passwords/password-sign-in.ts";
import { forgetOldAttempts } from "./auth/passwords/sign-in-backoff.ts";
import { resealingDuty } from "./auth/secret-key/resealing.ts";
import { requireSecretKey } from "./auth/secret-key/secret-key-check.ts";
import type { Config } from "./config.ts";
import type { Timestamp } from "./core/time.ts";
import { judgeServer } from "./doctor/server.ts";
import { judgeSurroundings } from "./doctor/surroundings.ts";
import { executorCatalog } from "./engine/executors/catalog.ts";
import { auditSealingDuty } from "./engine/maintenance/audit-sealing.ts";
import type { Duty } from "./engine/maintenance/duty.ts";
import { metricRollupsDuty } from "./engine/maintenance/metric-rollups.ts";
import { peopleRetentionDuty } from "./engine/maintenance/people-retention.ts";
import { retentionDuty } from "./engine/maintenance/retention.ts";
import { vacuumDuty } from "./engine/maintenance/vacuum.ts";
import { NodeEngine } from "./engine/node-engine.ts";
import { DefinitionChecks } from "./engine/plans/definition-checks.ts";
import { Parking } from "./engine/plans/parking.ts";
import { Plans } from "./engine/plans/plans.ts";
import type { App } from "./http/door/app.ts";
import { explainListening } from "./http/door/listening.ts";
import { Metrics, serveMetrics } from "./http/operations/prometheus.ts";
import { QueueGauges } from "./http/operations/queue-gauges.ts";
import { createServer, publicUrlOf } from "./http/server.ts";
import { type AdmissionParts, admit } from "./management/membership/admission.ts";
import type { SecretBox } from "./sealing/secret-box.ts";
import { secretBoxOf } from "./sealing/secret-key.ts";
import type { Database } from "./store/home/database.ts";
import type { SyncOptions } from "./store/home/durable-file-system.ts";
import { migrate } from "./store/home/migrate.ts";
import { examinePooler } from "./store/home/pooler.ts";
import { openPostgres, type PostgresOptions } from "./store/home/postgres.ts";
import { reachServer } from "./store/home/reach-server.ts";
import { readServerFacts, type ServerFacts } from "./store/home/server-facts.ts";
import { DatabaseUnusableError, forgetfulPooler, serverTrouble } from "./store/home/server-trouble.ts";
import { deleteExpiredPasswordLinks } from "./store/people/password-links.ts";
import { deleteExpiredSignInLinks } from "./store/people/sign-in-links.ts";

export interface RunningService {
  /** The address at which clients reach the service, without a slash at the end. */
  readonly baseUrl: string;
  /** The port on which this node itself listens. */
  readonly port: number;
  readonly engine: NodeEngine;
  readonly database: Database;
  /** Takes no more work, finishes or hands back what is under way, and closes the store. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Sentences about the environment, which are logged. */
  readonly warnings?: readonly string[];
  /** Opens the store. A caller can pass its own function to stand between the store and the service. Left out: `openStore`. */
  readonly open?: typeof openStore | undefined;
}

/** Starts one node: store, engine, HTTP, in this order; stops them in the reverse order. Throws when one of them cannot start. */
export async function startService(config: Config, options: StartOptions = {}): Promise<RunningService> {
  const { warnings = [], open = openStore } = options;
  const logger = pino({ level: config.logLevel, base: { node: config.nodeName } });
  for (const warning of warnings) logger.warn(warning);
  const parts = new AsyncDisposableStack();
  try {
    return await startParts(config, logger, parts, open);
  } catch (error) {
    await parts.disposeAsync();
    throw explained(config, error);
  }
}

async function startParts(
  config: Config,
  logger: Logger,
  parts: AsyncDisposableStack,
  open: typeof openStore,
): Promise<RunningService> {
  const secrets = secretBoxOf(config);
  const providers = readProviderFile(config.signInProvidersFile);
  const database = await open(config, logger);
  parts.defer(() => database.close());
  await requireSecretKey(database, secrets);

  const metrics = new Metrics();
  const executors = executorCatalog(config);
  parts.defer(() => {
    for (const executor of executors.values()) if (executor.behaviour === "call") executor.close?.();
  });
  const plans = new Plans(executors, config, parkingOf(logger));
  const isAlone = config.databaseUrl === undefined;
  const ownLimits = new OwnLimits(database.requests);
  await ownLimits.refresh();
  // Jobs may go on before the limits are known: the duties of the limits run in the engine.
  let rateLimits: RateLimits | undefined;
  const engine = new NodeEngine({
    config,
    database,
    executors,
    plans,
    isAlone,
    maximumOf: (organizationId, name) => ownLimits.maximumOf(config, organizationId, name).maximum,
    countChild: async (organizationId) => {
      const outcome = await rateLimits?.countChild(organizationId);
      return outcome instanceof ExceededQuota ? outcome.retryAfterSeconds : undefined;
    },
    onCommitted: (changed, stats) => metrics.committed(changed, stats),
    onTasksHandedOut: (dueForMs) => metrics.tasksHandedOut(dueForMs),
    onLeasesLost: (count) => metrics.leasesLost(count),
    onFailure: (where, error) => logger.error({ err: error, where }, "the engine met an error"),
  });
  metrics.watch(() => engine.gauges());
  const queueGauges = new QueueGauges({
    database,
    maxQueues: config.metricsMaxQueues,
    now: () => engine.now(),
    onFailure: (error) => logger.warn({ err: error }, "the task queues could not be measured for the metrics"),
  });
  metrics.watchQueues(() => queueGauges.read());
  parts.defer(() => engine.stop());
  await engine.start();

  const now = () => engine.now();
  engine.addDuty(retentionDuty({ database, now, idempotencyHours: config.idempotencyHours }));
  engine.addDuty(peopleRetentionDuty({ ...config, database, now }));
  engine.addDuty(metricRollupsDuty(database));
  engine.addDuty(auditSealingDuty({ database, now, key: secrets.keyFor("audit") }));
  const publicUrl = () => publicUrlOf(config, server);
  const { requests } = database;
  const auth = await openAuth({ config, database: requests, ownLimits, engine, secrets, providers, publicUrl, logger });
  rateLimits = auth.rateLimits;
  parts.defer(() => auth.rateLimits.leave());
  if (isAlone) engine.addDuty(vacuumDuty(database));

  const definitionChecks = new DefinitionChecks({
    config,
    onFailure: (error) => logger.error({ err: error }, "the check of a definition broke off"),
  });
  parts.defer(() => definitionChecks.close());
  const server = createServer({
    engine,
    database: requests,
    config,
    executors,
    definitionChecks,
    plans,
    secrets,
    ...auth,
    logger,
    metrics,
  });
  // Requests that wait are answered now; otherwise closing would wait for them.
  server.addHook("preClose", (done) => {
    engine.drain();
    done();
  });
  parts.defer(() => server.close());
  const address = await listen(server, config);
  const port = Number(new URL(address).port);
  const observed = await serveMetrics(metrics, {
    host: config.metricsHost,
    port: config.metricsPort,
    apiPort: port,
  });
  parts.defer(() => observed.close());

  const baseUrl = config.baseUrl?.href.replace(/\/+$/, "") ?? address.replace("127.0.0.1", "localhost");
  logger.info({ baseUrl, metricsPort: observed.port }, "listening");
  return {
    baseUrl,
    port,
    engine,
    database,
    async stop() {
      logger.info("stopping");
      await parts.disposeAsync();
    },
  };
}

function parkingOf(logger: Logger): Parking {
  return new Parking({
    onParked: (what, error) =>
      logger.error(
        { ...what, err: error },
        "versionId" in what
          ? "this node cannot compile a version: its jobs are parked here, and other nodes go on with them if they can"
          : "this node cannot go on with a job: it is parked here, and other nodes go on with it if they can",
      ),
    onReleased: (what) => logger.info(what, "this node continues what it had parked"),
  });
}

interface AuthOptions {
  readonly config: Config;
  readonly database: Database;
  readonly ownLimits: OwnLimits;
  readonly engine: NodeEngine;
  readonly secrets: SecretBox;
  readonly providers: readonly ExternalProvider[];
  readonly publicUrl: () => string;
  readonly logger: Logger;
}

/** Opens the parts that know who a caller is and how often they may ask, with their duties. */
async function openAuth(options: AuthOptions) {
  const { config, database, ownLimits, engine, secrets, providers, publicUrl, logger } = options;
  const now = () => engine.now();
  const newId = () => engine.newId();
  const openId = new OpenId({ config, database, secrets, now, newId, publicUrl });
  const singleSignOn = new SingleSignOn(providers, {
    now,
    admit: (provider, claims, source) => admit(admissionParts, provider, claims, source),
    onTrouble: (provider, error) => warnOfProvider(logger, provider, error),
  });
  const admissionParts: AdmissionParts = {
    database,
    config,
    engine,
    onChanged: (userId) => authenticator.forgetUser(userId),
    onLastOwnerKept: ({ id, organizationId }, userId) =>
      logger.warn(
        { provider: id, organizationId, userId },
        "the last owner stays an owner, although the provider gives them other roles",
      ),
  };
  const authenticator = new Authenticator({
    database,
    now,
    idTokens: new IdTokenBearers({ ...openId, database }),
    externalBearers: new ExternalBearers(singleSignOn),
  });
  const signIn = new PasswordSignIn({ database, now, newId, secrets });
  const rateLimits = new RateLimits({
    database,
    ownLimits,
    config,
    now,
    nodeCount: () => engine.nodeCount(),
    onFailure: (error) => logger.error({ err: error }, "the nodes could not share their counts of requests"),
  });
  const duties = [
    ...openId.duties(),
    ...rateLimits.duties(),
    lastUseDuty(authenticator),
    signInRetentionDuty(database, now),
  ];
  for (const duty of duties) engine.addDuty(duty);
  if (config.otherSecretKeys.length > 0) {
    const onResealed = (count: number) => logger.info({ count }, "secrets were sealed again under STEPWELL_SECRET_KEY");
    engine.addDuty(resealingDuty({ database, secrets, signingKeys: openId.signingKeys, onResealed }));
  }
  return { authenticator, signIn, openId, singleSignOn, rateLimits };
}

async function listen(server: App, { host, port }: Config): Promise<string> {
  try {
    return await server.listen({ host, port });
  } catch (error) {
    throw explainListening(error, { host, port, hostVariable: "STEPWELL_HOST", portVariable: "STEPWELL_PORT" });
  }
}

function warnOfProvider(logger: Logger, { id, issuer }: ExternalProvider, error: unknown): void {
  logger.warn(
    { provider: id, issuer, reason: describeTrouble(error) },
    "a sign-in provider does not answer as it should",
  );
}

/** The last use of each token is written outside of the requests' path. */
function lastUseDuty(authenticator: Authenticator): Duty {
  return {
    name: "last-use",
    everyMs: 10_000,
    async runOnce() {
      await authenticator.flushLastUsed();
      return undefined;
    },
  };
}

/** Deletes counts of failed sign-ins that would begin anew, and links that nobody used in time. */
function signInRetentionDuty(database: Database, now: () => Timestamp): Duty {
  return {
    name: "sign-in-retention",
    everyMs: 15 * 60_000,
    async runOnce() {
      await deleteExpiredPasswordLinks(database, now());
      await deleteExpiredSignInLinks(database, now());
      return (await forgetOldAttempts(database, now())) ? { againInMs: 0 } : undefined;
    },
  };
}

/** Opens the store that the configuration names, at this release's schema. Logs a warning for each thing that could be safer (`doctor/`). */
export async function openStore(config: Config, logger: Logger = pino({ level: "silent" })): Promise<Database> {
  let isPooled = false;
  const database = await openHome(config, {
    onSyncFailed: (error) => {
      logger.fatal({ err: error }, "the disk refused to sync: ending, to recover from the log at the next start");
      process.exit(1);
    },
    onPanic: (reason) => {
      logger.fatal({ reason }, "the embedded store broke off: ending, to recover from its log at the next start");
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
      if (reason === undefined) logger.warn({ worker }, "a worker of the Citus answers again");
      else
        logger.error({ worker, reason }, "a worker of the Citus does not answer: the jobs of its organizations wait");
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

/** Opens the store without any change of its schema. */
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
      throw new Error(`The embedded store broke off: ${reason}.`);
    },
    onSyncFailed: (error) => {
      throw error;
    },
    ...events,
  });
}

/** Throws when a pooler drops prepared statements: requests would fail at random, without a hint at the reason. */
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

/** Returns the error that stopped a start; where the database caused it, an error about DATABASE_URL. */
function explained({ databaseUrl }: Config, error: unknown): unknown {
  return (databaseUrl === undefined ? undefined : serverTrouble(error, databaseUrl)?.error) ?? error;
}
