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
import { executorCatalog } from "./engine/executors/catalog.ts";
import { auditSealingDuty } from "./engine/maintenance/audit-sealing.ts";
import { checkpointDuty } from "./engine/maintenance/checkpoint.ts";
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
import { explained, openStore } from "./open-store.ts";
import type { SecretBox } from "./sealing/secret-box.ts";
import { secretBoxOf } from "./sealing/secret-key.ts";
import type { Database } from "./store/home/database.ts";
import { deleteExpiredPasswordLinks } from "./store/people/password-links.ts";
import { deleteExpiredSignInLinks } from "./store/people/sign-in-links.ts";

export interface RunningService {
  /** The address at which clients reach the service, without a slash at the end. */
  readonly baseUrl: string;
  /** The port on which this node itself listens. */
  readonly port: number;
  readonly engine: NodeEngine;
  readonly database: Database;
  /** Stops accepting work, finishes or hands back the work under way, and closes the store. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Sentences about the environment, which are logged. */
  readonly warnings?: readonly string[];
  /** Opens the store. A caller can pass its own function, which can put something between the store and the service. The default is `openStore`. */
  readonly open?: typeof openStore | undefined;
}

/** Starts one node: store, engine, HTTP, in this order. `stop` ends them in the reverse order. If one cannot start, ends the others and throws. */
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
  const ground = await openGround(config, logger, parts, open);
  // The engine starts first, because it runs the duties of the rate limits. So jobs may continue before there are rate limits.
  let auth: Auth | undefined;
  const work = await startEngine(ground, parts, () => auth?.rateLimits);
  auth = openAuth(ground, work.engine, () => publicUrlOf(config, server));
  const { rateLimits } = auth;
  parts.defer(() => rateLimits.leave());
  const server: App = openServer(ground, work, auth, parts);
  const { baseUrl, port } = await listen(server, ground, parts);
  return {
    baseUrl,
    port,
    engine: work.engine,
    database: ground.database,
    async stop() {
      logger.info("stopping");
      await parts.disposeAsync();
    },
  };
}

/** The things that all parts of a node share. */
interface Ground {
  readonly config: Config;
  readonly logger: Logger;
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly providers: readonly ExternalProvider[];
  readonly ownLimits: OwnLimits;
  readonly metrics: Metrics;
}

async function openGround(
  config: Config,
  logger: Logger,
  parts: AsyncDisposableStack,
  open: typeof openStore,
): Promise<Ground> {
  const secrets = secretBoxOf(config);
  const providers = readProviderFile(config.signInProvidersFile);
  const database = await open(config, logger);
  parts.defer(() => database.close());
  await requireSecretKey(database, secrets);
  const ownLimits = new OwnLimits(database.requests);
  await ownLimits.refresh();
  return { config, logger, database, secrets, providers, ownLimits, metrics: new Metrics() };
}

interface Work {
  readonly engine: NodeEngine;
  readonly executors: ReturnType<typeof executorCatalog>;
  readonly plans: Plans;
}

/** Starts the engine, with all duties that need no part of `openAuth`. */
async function startEngine(
  ground: Ground,
  parts: AsyncDisposableStack,
  rateLimits: () => RateLimits | undefined,
): Promise<Work> {
  const { config, logger, database, ownLimits, metrics, secrets } = ground;
  const executors = executorCatalog(config);
  parts.defer(() => {
    for (const executor of executors.values()) if (executor.behaviour === "call") executor.close?.();
  });
  const plans = new Plans(executors, config, parkingOf(logger));
  const isAlone = config.databaseUrl === undefined;
  const engine = new NodeEngine({
    config,
    database,
    executors,
    plans,
    isAlone,
    maximumOf: (organizationId, name) => ownLimits.maximumOf(config, organizationId, name).maximum,
    countChild: async (organizationId) => {
      const outcome = await rateLimits()?.countChild(organizationId);
      return outcome instanceof ExceededQuota ? outcome.retryAfterSeconds : undefined;
    },
    onCommitted: (changed, stats) => metrics.committed(changed, stats),
    onTasksHandedOut: (dueForMs) => metrics.tasksHandedOut(dueForMs),
    onLeasesLost: (count) => metrics.leasesLost(count),
    onFailure: (where, error) => logger.error({ err: error, where }, "an error occurred in the engine"),
  });
  metrics.watch(() => engine.gauges());
  watchQueues(ground, engine);
  parts.defer(() => engine.stop());
  await engine.start();

  const now = () => engine.now();
  engine.addDuty(retentionDuty({ database, now, idempotencyHours: config.idempotencyHours }));
  engine.addDuty(peopleRetentionDuty({ ...config, database, now }));
  engine.addDuty(metricRollupsDuty(database));
  engine.addDuty(auditSealingDuty({ database, now, key: secrets.keyFor("audit") }));
  if (isAlone) for (const duty of [vacuumDuty, checkpointDuty]) engine.addDuty(duty(database.upkeep));
  return { engine, executors, plans };
}

function watchQueues({ config, database, logger, metrics }: Ground, engine: NodeEngine): void {
  const gauges = new QueueGauges({
    database,
    maxQueues: config.metricsMaxQueues,
    now: () => engine.now(),
    onFailure: (error) => logger.warn({ err: error }, "the task queues could not be measured for the metrics"),
  });
  metrics.watchQueues(() => gauges.read());
}

/** Makes the HTTP server, which does not listen yet. */
function openServer(ground: Ground, work: Work, auth: Auth, parts: AsyncDisposableStack): App {
  const { config, logger, database, secrets, metrics } = ground;
  const definitionChecks = new DefinitionChecks({
    config,
    onFailure: (error) => logger.error({ err: error }, "the check of a definition was interrupted"),
  });
  parts.defer(() => definitionChecks.close());
  const server = createServer({
    ...work,
    ...auth,
    database: database.requests,
    config,
    definitionChecks,
    secrets,
    logger,
    metrics,
  });
  // Requests that wait are answered now; otherwise closing would wait for them.
  server.addHook("preClose", (done) => {
    work.engine.drain();
    done();
  });
  parts.defer(() => server.close());
  return server;
}

/** Opens the ports of the API and of the metrics. */
async function listen(
  server: App,
  { config, logger, metrics }: Ground,
  parts: AsyncDisposableStack,
): Promise<{ readonly baseUrl: string; readonly port: number }> {
  const address = await listenOn(server, config);
  const port = Number(new URL(address).port);
  const observed = await serveMetrics(metrics, {
    host: config.metricsHost,
    port: config.metricsPort,
    apiPort: port,
  });
  parts.defer(() => observed.close());
  const baseUrl = config.baseUrl?.href.replace(/\/+$/, "") ?? address.replace("127.0.0.1", "localhost");
  logger.info({ baseUrl, metricsPort: observed.port }, "listening");
  return { baseUrl, port };
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

type Auth = ReturnType<typeof openAuth>;

/** Opens the parts that know who a caller is and how often a caller may ask, together with their duties. */
function openAuth(ground: Ground, engine: NodeEngine, publicUrl: () => string) {
  const { config, ownLimits, secrets, providers, logger } = ground;
  const database = ground.database.requests;
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
        "the last owner stays an owner, although the provider no longer gives them this role",
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

async function listenOn(server: App, { host, port }: Config): Promise<string> {
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

/** The time of each token's last use is written by a duty, so no request waits for it. */
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

/** Deletes counts of failed sign-ins that are too old to matter, and links that nobody used in time. */
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
