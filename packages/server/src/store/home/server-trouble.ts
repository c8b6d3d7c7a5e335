import pg from "pg";
import { StoreUnavailableError, sqlState } from "./database.ts";

/**
 * Thrown when the database that DATABASE_URL names cannot be used. The message names the setting and the reason, and has no password in it. For the
 * usual reasons, it also says what to do.
 */
export class DatabaseUnusableError extends Error {
  constructor(sentence: string, cause?: unknown) {
    super(`DATABASE_URL: ${sentence}`, { cause });
    this.name = "DatabaseUnusableError";
  }
}

export const forgetfulPooler =
  "a connection pooler in front of the server shares sessions and does not keep prepared statements. Set STEPWELL_PREPARED_STATEMENTS=false, or use PgBouncer 1.21 or newer with max_prepared_statements.";

export interface ServerTrouble {
  readonly error: DatabaseUnusableError;
  /** Whether waiting may help, such as for a server that is still starting. */
  readonly mayPass: boolean;
}

/** Explains an error of the driver. Undefined when the error is about neither the server nor its address. */
export function serverTrouble(error: unknown, databaseUrl: string): ServerTrouble | undefined {
  const cause = causeOf(error);
  if (!(error instanceof StoreUnavailableError) && sqlState(error) === undefined && !isOfAddress(cause, databaseUrl))
    return undefined;
  const target = targetOf(databaseUrl);
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  const message = withoutPassword(cause.message, target.password);
  const [, known] = troubles.find(([pattern]) => pattern.test(`${code} ${message}`)) ?? [];
  const sentence = known?.({ ...target, message, file: "path" in cause ? String(cause.path) : "" });
  return {
    error: new DatabaseUnusableError(
      sentence ?? `the database "${target.database}" at ${target.place} cannot be used: ${message}.`,
    ),
    mayPass: passing.test(`${code} ${message}`),
  };
}

/**
 * Whether the error is about the address. When the driver cannot parse the address, or cannot read a TLS file that the address names, it
 * throws before it connects.
 */
function isOfAddress(error: Error, databaseUrl: string): boolean {
  if ("code" in error && error.code === "ERR_INVALID_URL") return true;
  const named = [...(URL.parse(databaseUrl)?.searchParams.values() ?? [])];
  return "path" in error && typeof error.path === "string" && named.includes(error.path);
}

/** Finds the error inside of `StoreUnavailableError` and `AggregateError`; of several errors, the first. */
function causeOf(error: unknown): Error {
  if (error instanceof StoreUnavailableError && error.cause !== undefined) return causeOf(error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return causeOf(error.errors[0]);
  return error instanceof Error ? error : new Error(String(error));
}

interface Target {
  readonly place: string;
  readonly host: string;
  readonly user: string;
  readonly database: string;
  readonly password: string;
}

/** The parts of the address, as the driver reads them. */
function targetOf(databaseUrl: string): Target {
  try {
    // The settings for TLS are removed first, because the driver would read the files that they name.
    const url = databaseUrl.replace(/([?&])ssl\w*=[^&]*/g, "$1");
    const { host, port, user = "", database = "", password } = new pg.Client({ connectionString: url });
    const place = host.startsWith("/") ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`;
    return { place, host, user, database, password: typeof password === "string" ? password : "" };
  } catch {
    return { place: "its address", host: "", user: "", database: "", password: "" };
  }
}

function withoutPassword(text: string, password: string): string {
  if (password === "") return text;
  return [password, encodeURIComponent(password)].reduce((left, form) => left.replaceAll(form, "…"), text);
}

type Say = (about: Target & { readonly message: string; readonly file: string }) => string;

const passing =
  /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|57P0[123]|53300) |connection timeout|timeout expired|timeout exceeded|read timeout|terminated unexpectedly|\.s\.PGSQL\./;

/** The explanations, by the code or the message of the error. The driver's own errors have only a message. */
const troubles: readonly (readonly [RegExp, Say])[] = [
  [
    /^ECONNREFUSED /,
    ({ place }) =>
      `nothing accepts connections at ${place}. Start the PostgreSQL server there, or correct the host and the port.`,
  ],
  [
    /^(ENOTFOUND|EAI_AGAIN) /,
    ({ host }) => `the host "${host}" is not known. Correct the name, or this machine's name service.`,
  ],
  [
    /^(ENOENT|EACCES) .*\.s\.PGSQL\./,
    ({ host }) =>
      `there is no socket of a PostgreSQL server in ${host}, or this user may not open it. Start the server, or correct the directory.`,
  ],
  [
    /^(ENOENT|EACCES|EISDIR|EPERM) /,
    ({ file, message }) =>
      `the file ${file} cannot be read (${message}). Correct sslrootcert, sslcert or sslkey in the address.`,
  ],
  [
    /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH) |connection timeout|timeout expired|timeout exceeded|read timeout/,
    ({ place }) =>
      `the server at ${place} does not answer in time. Check the host, the port, and the firewalls on the way.`,
  ],
  [
    /^28P01 /,
    ({ place, user }) => `the server at ${place} refuses the password of the user "${user}". Correct the password.`,
  ],
  [
    /password must be a/,
    ({ place, user }) =>
      `the server at ${place} asks for a password of the user "${user}", and the address has none. Write it as postgres://USER:PASSWORD@HOST/DATABASE.`,
  ],
  [
    /^28000 .*no encryption/,
    ({ place }) =>
      `the server at ${place} accepts only encrypted connections. Add ?sslmode=verify-full to the address.`,
  ],
  [
    /^28000 /,
    ({ place, user, message }) =>
      `the server at ${place} does not let the user "${user}" in (${message}). Correct the user, or the server's pg_hba.conf.`,
  ],
  [
    /^3D000 /,
    ({ place, database }) =>
      `the server at ${place} has no database "${database}". Create it, for example with \`createdb\`, or correct the name.`,
  ],
  [
    /^42501 /,
    ({ user, database, message }) =>
      `the user "${user}" lacks a right in the database "${database}" (${message}). Make that user the owner of the database, or grant it CREATE on the schema public.`,
  ],
  [/^25006 /, ({ place }) => `the server at ${place} is a standby, which accepts no writes. Name the primary server.`],
  [
    /^53300 /,
    ({ place, message }) =>
      `the server at ${place} has no connection left (${message}). Raise its max_connections, or lower STEPWELL_DATABASE_POOL_SIZE.`,
  ],
  [/^57P0[123] /, ({ place, message }) => `the server at ${place} accepts no connections now (${message}).`],
  [
    /unsupported startup parameter/,
    ({ place, message }) =>
      `the connection pooler at ${place} refuses a setting that the address names (${message}). Take it out of the address, or add it to PgBouncer's ignore_startup_parameters.`,
  ],
  [/^(26000|42P05) /, () => forgetfulPooler],
  [
    /does not support SSL/,
    ({ place }) =>
      `the server at ${place} does not speak TLS. Turn \`ssl\` on at the server, or take sslmode out of the address.`,
  ],
  [
    /ALTNAME_INVALID/,
    ({ place, message }) =>
      `the certificate of the server at ${place} is for another name (${message}). Name the server as its certificate does.`,
  ],
  [
    /^CERT_(HAS_EXPIRED|NOT_YET_VALID)/,
    ({ place, message }) =>
      `the certificate of the server at ${place} is not valid at this time (${message}). Renew it, or correct the clock of this machine.`,
  ],
  [
    /^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_)/,
    ({ place, message }) =>
      `the certificate of the server at ${place} is not trusted (${message}). Name the authority that issued it: add &sslrootcert=FILE to the address.`,
  ],
];
