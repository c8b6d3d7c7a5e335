import { countSettings } from "./count-settings.ts";
import {
  boolean,
  directory,
  formerly,
  integer,
  list,
  machineName,
  networks,
  networksAndHosts,
  oneOf,
  optionalPort,
  optionalPostgresUrl,
  optionalText,
  optionalUrl,
  orFile,
  port,
  text,
  textIn,
  urls,
} from "./setting.ts";
import { sizeSettings } from "./size-settings.ts";

/**
 * Every setting of the service, with its name, its default and its reason. The settings are parsed once at the start and frozen; nothing else reads
 * the environment. `docs/configuration.md` is generated from `settings`.
 */
export type Config = { readonly [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]["parse"]> };

/** The largest value that the store's columns for limits hold. */
export const maxPerMinute = 2_000_000_000;

export {
  type CountedName,
  type Maximum,
  type MaximumName,
  maximumNames,
  maximumOf,
  maximumSettings,
} from "./count-settings.ts";

export const settings = {
  // The addresses to listen on.
  host: text("STEPWELL_HOST", "127.0.0.1", "Address to listen on. The default is reachable from this machine only."),
  port: port("STEPWELL_PORT", 8080, "Port of the HTTP API. 0 takes any free one."),
  baseUrl: optionalUrl(
    "STEPWELL_BASE_URL",
    "The address by which clients reach the service. A path in it prefixes every route. Default: http://localhost:PORT.",
  ),
  trustedProxies: networks(
    "STEPWELL_TRUSTED_PROXIES",
    "Addresses and networks of the proxies before the service, separated by commas. What they write into X-Forwarded-For counts as the client's address, for limits, lists and the audit trail; nobody else's does. Default: none, so that behind a proxy all clients have one address.",
  ),
  metricsHost: text(
    "STEPWELL_METRICS_HOST",
    "127.0.0.1",
    "Address of the Prometheus metrics, kept off the public one.",
  ),
  metricsPort: optionalPort(
    "STEPWELL_METRICS_PORT",
    "Port of the Prometheus metrics. Default: the next free one after PORT.",
  ),
  metricsMaxQueues: integer(
    "STEPWELL_METRICS_MAX_QUEUES",
    100,
    0,
    1_000,
    "Task queues that have Prometheus series of their own on a node; all others are summed up in one more. Expressions may name any number of queues, and each costs Prometheus five series.",
  ),
  corsOrigins: list(
    "STEPWELL_CORS_ORIGINS",
    "Origins whose pages may call the API, separated by commas. Default: none.",
  ),

  // The store.
  databaseUrl: orFile(
    optionalPostgresUrl(
      "DATABASE_URL",
      "A PostgreSQL server (15 or newer): postgres://USER:PASSWORD@HOST:5432/DATABASE, with sslmode=verify-full for TLS (the weaker modes that ask for TLS count as that one). Without it the service keeps its data in an embedded PostgreSQL in the data directory.",
    ),
  ),
  dataDir: directory("STEPWELL_DATA_DIR", "./.stepwell", "Directory of the embedded store and of dev.json."),
  databasePoolSize: integer(
    "STEPWELL_DATABASE_POOL_SIZE",
    12,
    3,
    200,
    "Connections to the PostgreSQL server. A third belongs to the engine (commits, heartbeat, duties), a quarter to lists, histories and metrics, of which one organization uses half at most; the others serve requests. More help only when many clients list and search.",
  ),
  databaseStartSeconds: integer(
    "STEPWELL_DATABASE_START_SECONDS",
    15,
    0,
    3_600,
    "How long a start waits for a PostgreSQL server that refuses connections, is not known by name yet or is itself starting, as when all containers start together. Then it ends with an error, for its supervisor to start it again. A wrong password or an unknown database ends it at once.",
  ),
  preparedStatements: boolean(
    "STEPWELL_PREPARED_STATEMENTS",
    true,
    "Named statements. Turn off behind PgBouncer before 1.21 in transaction mode, which breaks them.",
  ),
  databaseTimeoutMs: integer(
    "STEPWELL_DATABASE_TIMEOUT_MS",
    5_000,
    100,
    600_000,
    "A statement that takes longer is given up: a half-open connection must not hold a caller for ever.",
  ),
  readTimeoutMs: integer(
    "STEPWELL_READ_TIMEOUT_MS",
    5_000,
    100,
    600_000,
    "How long a read of a list, a history, a large job or a metric may take, the wait for its turn included. A read that takes longer gets 503.",
  ),
  commitTimeoutMs: formerly(
    "STEPWELL_STORE_PATIENCE_MS",
    integer(
      "STEPWELL_COMMIT_TIMEOUT_MS",
      4_000,
      0,
      600_000,
      "How long a caller waits for a store that is out of reach before it gets 503. Short enough for a load balancer.",
    ),
  ),
  embeddedBufferMb: integer(
    "STEPWELL_EMBEDDED_BUFFER_MB",
    16,
    1,
    1_024,
    "shared_buffers of the embedded store. Small, since the operating system caches the same pages.",
  ),

  // Secrets.
  secretKey: orFile(
    optionalText(
      "STEPWELL_SECRET_KEY",
      "The key under which signing keys and second factors are encrypted in the store: 32 random bytes or more, in base64 (`openssl rand -base64 32`). The same on every node; needed with DATABASE_URL. Without it the embedded store makes one, in the file secret.key of the data directory.",
    ),
  ),
  otherSecretKeys: orFile(
    list(
      "STEPWELL_OTHER_SECRET_KEYS",
      "Secret keys besides STEPWELL_SECRET_KEY, separated by commas, while it is being changed (docs/operations.md says how): they open what was sealed under them and seal nothing. A key that was replaced stays here for as long as the seals of the audit trail from its time are to be checked.",
    ),
  ),

  // Sign-in.
  sessionHours: integer(
    "STEPWELL_SESSION_HOURS",
    14 * 24,
    1,
    365 * 24,
    "A sign-in holds this long at most, however much it is used; then the password is asked for again.",
  ),
  sessionIdleHours: integer(
    "STEPWELL_SESSION_IDLE_HOURS",
    3 * 24,
    1,
    365 * 24,
    "A sign-in that nobody uses ends after this long: a weekend away is no reason to sign in again, a forgotten browser is.",
  ),
  dashboardRedirectUris: urls(
    "STEPWELL_DASHBOARD_REDIRECT_URIS",
    "Addresses to which a sign-in of the dashboard may lead back beside the service's own, separated by commas: where a dashboard under development is served. Default: none.",
  ),
  signInProvidersFile: optionalText(
    "STEPWELL_SIGN_IN_PROVIDERS_FILE",
    "A JSON file of issuers outside with which people sign in (docs/single-sign-on.md). Read once at start, which stops when something in it is wrong. A file and no variables: there may be many. Default: none.",
  ),

  // The engine.
  nodeName: machineName(
    "STEPWELL_NODE_NAME",
    "This node's name for people, in logs and metrics. Default: the machine's name.",
  ),
  heartbeatMs: integer(
    "STEPWELL_HEARTBEAT_MS",
    1_000,
    50,
    60_000,
    "How often a node renews its one heartbeat row. A third of the lease or less.",
  ),
  leaseMs: integer(
    "STEPWELL_LEASE_MS",
    10_000,
    200,
    600_000,
    "A node whose heartbeat another one has seen unchanged for so long, while the database answered, is dead, and others take its jobs. Long enough for a garbage collection or a slow disk.",
  ),
  pollMs: integer(
    "STEPWELL_POLL_MS",
    500,
    10,
    60_000,
    "How often due timers are looked for. Timers that this node set itself fire on time; this bounds the delay of the others.",
  ),
  maxBatchSize: integer(
    "STEPWELL_MAX_BATCH_SIZE",
    400,
    1,
    10_000,
    "Facts in one transaction. Beyond some hundreds throughput no longer grows and only the wait does.",
  ),
  maxBatchBytes: integer(
    "STEPWELL_MAX_BATCH_BYTES",
    8 * 1024 * 1024,
    1,
    256 * 1024 * 1024,
    "Payload bytes in one transaction, so that a batch of large inputs stays a moment's work.",
  ),
  maxQueuedFacts: integer(
    "STEPWELL_MAX_QUEUED_FACTS",
    20_000,
    1,
    10_000_000,
    "Facts waiting for a transaction. Beyond it callers get 503 with Retry-After instead of memory running out.",
  ),
  maxQueuedFactsPerOrganization: integer(
    "STEPWELL_MAX_QUEUED_FACTS_PER_ORGANIZATION",
    10_000,
    1,
    10_000_000,
    "Facts of one organization waiting for a transaction. Beyond it its callers get 429 with Retry-After. Half of the queue, so that one organization's burst leaves room for the others.",
  ),
  maxCalls: integer(
    "STEPWELL_MAX_CALLS",
    1_000,
    1,
    100_000,
    "Executor calls under way on this node. More jobs wait in the store, not in memory.",
  ),
  maxCallsPerOrganization: integer(
    "STEPWELL_MAX_CALLS_PER_ORGANIZATION",
    200,
    1,
    100_000,
    "Executor calls under way per organization on this node, so that one organization's slow function blocks no other.",
  ),
  maxQueuedCalls: integer(
    "STEPWELL_MAX_QUEUED_CALLS",
    5_000,
    1,
    1_000_000,
    "Calls this node owns but has not begun. Beyond it new jobs stay PENDING in the store until there is room.",
  ),
  defaultCallTimeoutSeconds: integer(
    "STEPWELL_DEFAULT_CALL_TIMEOUT_SECONDS",
    900,
    1,
    86_400,
    "Timeout of an attempt whose step sets no timeoutSeconds. 15 minutes is the longest a cloud function runs.",
  ),
  drainSeconds: integer(
    "STEPWELL_DRAIN_SECONDS",
    20,
    0,
    3_600,
    "On SIGTERM calls under way get this long; then they are handed back. Below the usual 30 s grace of a container.",
  ),
  idempotencyHours: integer(
    "STEPWELL_IDEMPOTENCY_HOURS",
    24,
    1,
    8_760,
    "How long an Idempotency-Key keeps its answer.",
  ),
  accountActivityDays: integer(
    "STEPWELL_ACCOUNT_ACTIVITY_DAYS",
    400,
    1,
    36_500,
    "How long people see what happened to their account. Then it is deleted: strangers who guess at a password write into it, too.",
  ),
  invitationDays: integer(
    "STEPWELL_INVITATION_DAYS",
    90,
    1,
    36_500,
    "How long an invitation is listed after its last day, whether it was accepted or not. Then it is deleted; the audit trail keeps who invited whom.",
  ),

  // Limits of one request or one job.
  ...sizeSettings,
  ...countSettings,
  maxInvitationDays: integer(
    "STEPWELL_MAX_INVITATION_DAYS",
    30,
    7,
    365,
    "The longest life of an invitation. Whoever finds its link later shall find it dead.",
  ),
  maxConnections: integer("STEPWELL_MAX_CONNECTIONS", 20_000, 1, 1_000_000, "Open client connections."),
  maxUnreadAnswersMb: integer(
    "STEPWELL_MAX_UNREAD_ANSWERS_MB",
    512,
    40,
    1_000_000,
    "Large answers that clients have not read yet; one organization has half of it. They stand in memory, twice over at times.",
  ),
  headersTimeoutMs: integer(
    "STEPWELL_HEADERS_TIMEOUT_MS",
    10_000,
    100,
    600_000,
    "A client that sends headers slower is cut off.",
  ),
  requestTimeoutMs: integer(
    "STEPWELL_REQUEST_TIMEOUT_MS",
    30_000,
    100,
    600_000,
    "A client that sends its body slower is cut off, and one that reads nothing of a large answer for as long.",
  ),

  // Rates: how much one organization or one credential may ask for in a minute, over all nodes.
  organizationRequestsPerMinute: integer(
    "STEPWELL_ORGANIZATION_REQUESTS_PER_MINUTE",
    1_500_000,
    0,
    maxPerMinute,
    "Requests of one organization, all its callers together; 0: no limit. More than one node answers: by default it stops what has run wild and no honest load. `stepwell org limits` sets another for one organization.",
  ),
  organizationSubmitsPerMinute: integer(
    "STEPWELL_ORGANIZATION_SUBMITS_PER_MINUTE",
    750_000,
    0,
    maxPerMinute,
    "Jobs that one organization submits; 0: no limit. About what one node can write, which is more than half of its requests.",
  ),
  tokenRequestsPerMinute: integer(
    "STEPWELL_TOKEN_REQUESTS_PER_MINUTE",
    1_500_000,
    0,
    maxPerMinute,
    "Requests of one API token, or of one user within one organization; 0: no limit. As for the organization, since many have one token only; lower it so that one runaway program leaves room for the others.",
  ),
  tokenSubmitsPerMinute: integer(
    "STEPWELL_TOKEN_SUBMITS_PER_MINUTE",
    750_000,
    0,
    maxPerMinute,
    "Jobs that one API token, or one user within one organization, submits; 0: no limit. As for the organization.",
  ),
  maxRefusalsPerMinute: integer(
    "STEPWELL_MAX_REFUSALS_PER_MINUTE",
    6_000,
    0,
    maxPerMinute,
    "Requests of one address (of IPv6: one /64) that carry no valid credential, and of one caller for what it may not reach, on one node; 0: no limit. Beyond it they get 429 without a look-up, so that guessing costs the store nothing. A token that is in use is let through. It also bounds the look-ups that one address causes by naming origins of pages that no OAuth client has. Far more than a client with an old token sends.",
  ),

  // Cloud functions.
  cloudFunctionEndpoint: optionalUrl(
    "STEPWELL_CLOUD_FUNCTION_ENDPOINT",
    "Where /service/cloud/function is called instead of the region's own endpoint: a local emulator, a private endpoint.",
  ),
  allowFunctionEndpoints: boolean(
    "STEPWELL_ALLOW_FUNCTION_ENDPOINTS",
    false,
    "Let definitions name an `endpoint` of their own. Off: a definition comes from a stranger and could reach into your network.",
  ),
  cloudFunctionRoleName: optionalText(
    "STEPWELL_CLOUD_FUNCTION_ROLE_NAME",
    "Name of the role to assume in a function's account (arn:aws:iam::ACCOUNT:role/NAME). Without it the service's own credentials are used.",
  ),
  allowFunctionRoles: boolean(
    "STEPWELL_ALLOW_FUNCTION_ROLES",
    false,
    "Let definitions name a `roleArn` of their own, to be assumed with the service's credentials.",
  ),

  // HTTP steps.
  httpStepAllowedAddresses: networksAndHosts(
    "STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES",
    "Addresses, networks and names of hosts inside your network that /service/http may call, separated by commas, such as 10.20.0.0/16, billing.internal. Public addresses may be called without it. Default: none, because a definition comes from a stranger and could reach into your network; `stepwell dev` sets localhost, 127.0.0.0/8, ::1.",
  ),

  // Observation.
  logLevel: oneOf(
    "STEPWELL_LOG_LEVEL",
    "info",
    ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    "Least level that is logged, as JSON lines.",
  ),
} as const;

/** Throws one error that lists every setting that is wrong. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const entries = Object.entries(settings).map(([name, setting]) => {
    try {
      return [name, setting.parse(textIn(environment, setting))];
    } catch (error) {
      problems.push(`${setting.variable} ${error instanceof Error ? error.message : String(error)}.`);
      return [name, undefined];
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(Object.fromEntries(entries)) as Config;
}

export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(
      problems.length === 1
        ? problems[0]
        : `${problems.length} settings are wrong:\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
    );
    this.name = "ConfigError";
  }
}
