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
 * The value of every setting of the service. The settings are parsed once at the start and frozen; nothing else takes settings from the environment.
 * `settings` has the variable, the default and the description of each setting. `docs/configuration.md` is generated from it.
 */
export type Config = { readonly [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]["parse"]> };

/** The largest number that may be set as a limit per minute. It fits into the store's columns for such limits. */
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
  // Addresses and ports.
  host: text(
    "STEPWELL_HOST",
    "127.0.0.1",
    "The address to listen on. Only this machine can reach the service at the default address.",
  ),
  port: port("STEPWELL_PORT", 8080, "The port of the HTTP API. With 0, the system chooses a free port."),
  baseUrl: optionalUrl(
    "STEPWELL_BASE_URL",
    "The address at which clients reach the service. If it has a path, the path comes before every route. Default: http://localhost:PORT.",
  ),
  trustedProxies: networks(
    "STEPWELL_TRUSTED_PROXIES",
    "The addresses and networks of the proxies in front of the service, separated by commas. The service takes the client's address from the X-Forwarded-For header of these proxies only, and uses it for limits, sessions, account activity and the audit trail. Default: none; then all clients behind a proxy have the proxy's address.",
  ),
  metricsHost: text(
    "STEPWELL_METRICS_HOST",
    "127.0.0.1",
    "The address of the Prometheus metrics. They have an address of their own, so that they are not public.",
  ),
  metricsPort: optionalPort(
    "STEPWELL_METRICS_PORT",
    "The port of the Prometheus metrics. Default: STEPWELL_PORT + 1, or any free port if that one is taken.",
  ),
  metricsMaxQueues: integer(
    "STEPWELL_METRICS_MAX_QUEUES",
    100,
    0,
    1_000,
    "How many task queues have Prometheus series of their own on a node. All other queues are added up in one more set of series. The limit is needed because each queue costs five series, and an expression in a definition can name any number of queues.",
  ),
  corsOrigins: list(
    "STEPWELL_CORS_ORIGINS",
    "The origins whose web pages may call the API, separated by commas. Default: none.",
  ),

  // The store.
  databaseUrl: orFile(
    optionalPostgresUrl(
      "DATABASE_URL",
      "The address of a PostgreSQL server (version 15 or newer): postgres://USER:PASSWORD@HOST:5432/DATABASE. Add sslmode=verify-full for TLS; the service treats the weaker modes prefer, require and verify-ca as verify-full. Without this variable, the service keeps its data in an embedded PostgreSQL in the data directory.",
    ),
  ),
  dataDir: directory(
    "STEPWELL_DATA_DIR",
    "./.stepwell",
    "The directory of the embedded store. `stepwell dev` also writes dev.json there, which has the token and the password of the local service.",
  ),
  databasePoolSize: integer(
    "STEPWELL_DATABASE_POOL_SIZE",
    12,
    3,
    200,
    "The maximum number of connections of each node to the PostgreSQL server. A third is for the engine (commits, heartbeat, maintenance). A quarter is for lists, histories and metrics, and one organization uses at most half of that quarter, rounded up. The rest is for all other requests. More connections help only when many clients list and search.",
  ),
  databaseStartSeconds: integer(
    "STEPWELL_DATABASE_START_SECONDS",
    15,
    0,
    3_600,
    "How long a start waits for a PostgreSQL server that refuses connections, is itself starting, or has a name that cannot be resolved yet. This happens when all containers start together. After this time the service exits with an error, so that its supervisor can start it again. With a wrong password or an unknown database it exits at once.",
  ),
  preparedStatements: boolean(
    "STEPWELL_PREPARED_STATEMENTS",
    true,
    "Whether the service uses prepared statements. Set it to false if you use PgBouncer before version 1.21 in transaction mode, which does not support them.",
  ),
  databaseTimeoutMs: integer(
    "STEPWELL_DATABASE_TIMEOUT_MS",
    5_000,
    100,
    600_000,
    "The service cancels a statement that takes longer than this. For reads of lists, histories, large jobs and metrics, STEPWELL_READ_TIMEOUT_MS applies instead. Without a limit, a broken connection could make a caller wait for ever.",
  ),
  readTimeoutMs: integer(
    "STEPWELL_READ_TIMEOUT_MS",
    5_000,
    100,
    600_000,
    "How long a read of a list, a history, a large job or a metric may take, including the time in which it waits for a connection. A read that takes longer is answered with 503.",
  ),
  commitTimeoutMs: formerly(
    "STEPWELL_STORE_PATIENCE_MS",
    integer(
      "STEPWELL_COMMIT_TIMEOUT_MS",
      4_000,
      0,
      600_000,
      "How long a caller waits for a change of a job when the store cannot be reached. After this time the caller gets 503. The default is shorter than the timeouts of load balancers.",
    ),
  ),
  embeddedBufferMb: integer(
    "STEPWELL_EMBEDDED_BUFFER_MB",
    16,
    1,
    1_024,
    "The value of shared_buffers in the embedded store. It is small because the operating system caches the same pages.",
  ),

  // Secrets.
  secretKey: orFile(
    optionalText(
      "STEPWELL_SECRET_KEY",
      "The key that encrypts signing keys and second factors in the store: at least 32 random bytes in base64 (`openssl rand -base64 32`). All nodes need the same key. It is required with DATABASE_URL. If no key is set, a service with the embedded store creates one in the file secret.key of the data directory.",
    ),
  ),
  otherSecretKeys: orFile(
    list(
      "STEPWELL_OTHER_SECRET_KEYS",
      "More secret keys, separated by commas, for the time in which STEPWELL_SECRET_KEY is changed (docs/operations.md describes the steps). The service uses them to decrypt, never to encrypt. Keep a replaced key here for as long as you want to check the seals of the audit trail that were made with it.",
    ),
  ),

  // Sign-in.
  sessionHours: integer(
    "STEPWELL_SESSION_HOURS",
    14 * 24,
    1,
    365 * 24,
    "The maximum duration of a session, even if it is in use. After this time, the user must sign in again.",
  ),
  sessionIdleHours: integer(
    "STEPWELL_SESSION_IDLE_HOURS",
    3 * 24,
    1,
    365 * 24,
    "A session ends when it has not been used for this long. With the default, a session stays valid over a weekend, but a session in a forgotten browser ends.",
  ),
  dashboardRedirectUris: urls(
    "STEPWELL_DASHBOARD_REDIRECT_URIS",
    "More addresses to which the dashboard's sign-in may send the browser back, separated by commas. Set it to the address of a dashboard under development. Default: none, so that this sign-in leads to the service's own dashboard only.",
  ),
  signInProvidersFile: optionalText(
    "STEPWELL_SIGN_IN_PROVIDERS_FILE",
    "A JSON file that lists the external identity providers with which people may sign in (docs/single-sign-on.md). It is read once at start; a mistake in it stops the start. It is a file because there may be many providers. Default: none.",
  ),

  // The engine.
  nodeName: machineName(
    "STEPWELL_NODE_NAME",
    "The name of this node in logs and metrics. Default: the machine's name.",
  ),
  heartbeatMs: integer(
    "STEPWELL_HEARTBEAT_MS",
    1_000,
    50,
    60_000,
    "How often a node renews its heartbeat. Set it to a third of STEPWELL_LEASE_MS or less.",
  ),
  leaseMs: integer(
    "STEPWELL_LEASE_MS",
    10_000,
    200,
    600_000,
    "How long a heartbeat may stay unchanged, while the database answers, before the other nodes treat the node as dead and take over its jobs. The default is longer than the pauses of a garbage collection or a slow disk.",
  ),
  pollMs: integer(
    "STEPWELL_POLL_MS",
    500,
    10,
    60_000,
    "How often a node looks for due timers in the store. A timer that this node has set fires on time; this setting bounds the delay of all others.",
  ),
  maxBatchSize: integer(
    "STEPWELL_MAX_BATCH_SIZE",
    400,
    1,
    10_000,
    "The maximum number of facts in one transaction. Beyond a few hundred, throughput does not grow any more, but callers wait longer.",
  ),
  maxBatchBytes: integer(
    "STEPWELL_MAX_BATCH_BYTES",
    8 * 1024 * 1024,
    1,
    256 * 1024 * 1024,
    "The maximum payload of one transaction, in bytes, so that a batch of large inputs does not take long.",
  ),
  maxQueuedFacts: integer(
    "STEPWELL_MAX_QUEUED_FACTS",
    20_000,
    1,
    10_000_000,
    "The maximum number of facts that wait for a transaction. Beyond it, callers get 503 with Retry-After. The limit keeps the node from running out of memory.",
  ),
  maxQueuedFactsPerOrganization: integer(
    "STEPWELL_MAX_QUEUED_FACTS_PER_ORGANIZATION",
    10_000,
    1,
    10_000_000,
    "The maximum number of facts of one organization that wait for a transaction. Beyond it, its callers get 429 with Retry-After. The default is half of the default of STEPWELL_MAX_QUEUED_FACTS, so that one organization cannot fill the queue.",
  ),
  maxCalls: integer(
    "STEPWELL_MAX_CALLS",
    1_000,
    1,
    100_000,
    "The maximum number of executor calls that run at the same time on this node. More calls wait in memory for their turn. When many calls wait (STEPWELL_MAX_QUEUED_CALLS), new jobs wait in the store.",
  ),
  maxCallsPerOrganization: integer(
    "STEPWELL_MAX_CALLS_PER_ORGANIZATION",
    200,
    1,
    100_000,
    "The maximum number of executor calls that run at the same time on this node for one organization, so that the slow functions of one organization do not block the others.",
  ),
  maxQueuedCalls: integer(
    "STEPWELL_MAX_QUEUED_CALLS",
    5_000,
    1,
    1_000_000,
    "How many calls may wait on this node for their turn before new jobs must wait in the store. When so many calls wait, a new job of an organization that already has a waiting call stays PENDING in the store until there is room. This does not hold for jobs that begin with a task of a worker, or with a step that makes no call and has no branches.",
  ),
  defaultCallTimeoutSeconds: integer(
    "STEPWELL_DEFAULT_CALL_TIMEOUT_SECONDS",
    900,
    1,
    86_400,
    "The timeout of an attempt to call a function or an HTTP endpoint, if the step has no timeoutSeconds. The default, 15 minutes, is the longest time that a cloud function runs.",
  ),
  drainSeconds: integer(
    "STEPWELL_DRAIN_SECONDS",
    20,
    0,
    3_600,
    "How long calls that are running may continue after SIGTERM. After this time the node gives them up, and another node, or the service after its next start, makes them again. The default is shorter than the 30 seconds that most container platforms allow.",
  ),
  idempotencyHours: integer(
    "STEPWELL_IDEMPOTENCY_HOURS",
    24,
    1,
    8_760,
    "How long the service keeps the answer of a request with an Idempotency-Key.",
  ),
  accountActivityDays: integer(
    "STEPWELL_ACCOUNT_ACTIVITY_DAYS",
    400,
    1,
    36_500,
    "How long people see the activity of their account. Older entries are deleted, because strangers who guess passwords add entries, too.",
  ),
  invitationDays: integer(
    "STEPWELL_INVITATION_DAYS",
    90,
    1,
    36_500,
    "How long an invitation stays in the list after it has expired, whether it was accepted or not. Then it is deleted. The audit trail still says who invited whom.",
  ),

  // Limits of requests, jobs, organizations and connections.
  ...sizeSettings,
  ...countSettings,
  maxInvitationDays: integer(
    "STEPWELL_MAX_INVITATION_DAYS",
    30,
    7,
    365,
    "The longest time for which an invitation may be valid. An old link that somebody finds later must not work.",
  ),
  maxConnections: integer(
    "STEPWELL_MAX_CONNECTIONS",
    20_000,
    1,
    1_000_000,
    "The maximum number of open client connections.",
  ),
  maxUnreadAnswersMb: integer(
    "STEPWELL_MAX_UNREAD_ANSWERS_MB",
    512,
    40,
    1_000_000,
    "The maximum total size, in MB, of the large answers that clients have not read yet. One organization may have half of it. The answers are in memory, at times in two copies.",
  ),
  headersTimeoutMs: integer(
    "STEPWELL_HEADERS_TIMEOUT_MS",
    10_000,
    100,
    600_000,
    "How long a client may take to send the headers of a request. After this time the connection is closed.",
  ),
  requestTimeoutMs: integer(
    "STEPWELL_REQUEST_TIMEOUT_MS",
    30_000,
    100,
    600_000,
    "How long a client may take to send a whole request, and how long it may read nothing of a large answer or of a stream. After this time the connection is closed.",
  ),

  // Rates: how much one organization or one credential may ask for in a minute, over all nodes; and how much may be refused on one node.
  organizationRequestsPerMinute: integer(
    "STEPWELL_ORGANIZATION_REQUESTS_PER_MINUTE",
    1_500_000,
    0,
    maxPerMinute,
    "How many requests all callers of one organization together may send in a minute. 0 means no limit. The default is more than a single node can answer. It is meant to stop a program that has run out of control, not a normal load. `stepwell org limits` sets another limit for one organization.",
  ),
  organizationSubmitsPerMinute: integer(
    "STEPWELL_ORGANIZATION_SUBMITS_PER_MINUTE",
    750_000,
    0,
    maxPerMinute,
    "How many jobs one organization may submit in a minute. 0 means no limit. The default is about what one node can write.",
  ),
  tokenRequestsPerMinute: integer(
    "STEPWELL_TOKEN_REQUESTS_PER_MINUTE",
    1_500_000,
    0,
    maxPerMinute,
    "How many requests one API token, or one user within one organization, may send in a minute. 0 means no limit. The default is that of STEPWELL_ORGANIZATION_REQUESTS_PER_MINUTE, because many organizations have only one token. Lower it so that one program cannot use up the limit of its organization.",
  ),
  tokenSubmitsPerMinute: integer(
    "STEPWELL_TOKEN_SUBMITS_PER_MINUTE",
    750_000,
    0,
    maxPerMinute,
    "How many jobs one API token, or one user within one organization, may submit in a minute. 0 means no limit. The default is that of STEPWELL_ORGANIZATION_SUBMITS_PER_MINUTE.",
  ),
  maxRefusalsPerMinute: integer(
    "STEPWELL_MAX_REFUSALS_PER_MINUTE",
    6_000,
    0,
    maxPerMinute,
    "How many requests without a valid credential one address (for IPv6, a /64 network) may send to one node in a minute. The same number limits the requests of one caller for things that the caller has no access to. 0 means no limit. When the limit is reached, further requests from the address or of the caller get 429 without a look-up in the store, so that guessing costs the store nothing. But requests from such an address still pass if their token was valid when the node last looked it up. The setting also limits, for each address, how often a web page of an unknown origin (an origin of no OAuth client) can make the service look for this origin in the store. The default is far more than a client with an old token sends.",
  ),

  // Cloud functions.
  cloudFunctionEndpoint: optionalUrl(
    "STEPWELL_CLOUD_FUNCTION_ENDPOINT",
    "The address at which /service/cloud/function calls functions, instead of the endpoint of the region. Set it for a local emulator or a private endpoint.",
  ),
  allowFunctionEndpoints: boolean(
    "STEPWELL_ALLOW_FUNCTION_ENDPOINTS",
    false,
    "Whether definitions may name an `endpoint` of their own. It is off by default, because otherwise the author of a definition could reach into your network.",
  ),
  cloudFunctionRoleName: optionalText(
    "STEPWELL_CLOUD_FUNCTION_ROLE_NAME",
    "The name of the role that the service assumes in the account of a function (arn:aws:iam::ACCOUNT:role/NAME). Without it, the service uses its own credentials.",
  ),
  allowFunctionRoles: boolean(
    "STEPWELL_ALLOW_FUNCTION_ROLES",
    false,
    "Whether definitions may name a `roleArn` of their own. The service assumes that role with its own credentials. It is off by default, because otherwise the author of a definition could use any role that trusts the service.",
  ),

  // HTTP steps.
  httpStepAllowedAddresses: networksAndHosts(
    "STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES",
    "The addresses, networks and host names inside your network that /service/http may call, separated by commas, such as 10.20.0.0/16, billing.internal. Public addresses need no entry. Default: none, because otherwise the author of a definition could reach into your network. `stepwell dev` sets localhost, 127.0.0.0/8, ::1.",
  ),

  // Observation.
  logLevel: oneOf(
    "STEPWELL_LOG_LEVEL",
    "info",
    ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    "The lowest level that is logged. The log consists of JSON lines.",
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
