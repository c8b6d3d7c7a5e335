import { existsSync } from "node:fs";
import { join } from "node:path";
import { hasSealedValues, judgeSecretKey, WrongSecretKeyError } from "../auth/secret-key/secret-key-check.ts";
import { type Config, readConfig } from "../config.ts";
import { type Finding, ok, problem, warning } from "../doctor/finding.ts";
import { judgeServer } from "../doctor/server.ts";
import { judgeSurroundings } from "../doctor/surroundings.ts";
import { describeUnknownVariables } from "../environment.ts";
import { openHome } from "../open-store.ts";
import { secretBoxOf } from "../sealing/secret-key.ts";
import type { Database } from "../store/home/database.ts";
import { DirectoryLockedError } from "../store/home/directory-lock.ts";
import { readSchema } from "../store/home/migrate.ts";
import { examinePooler } from "../store/home/pooler.ts";
import { reachServer } from "../store/home/reach-server.ts";
import { databaseBytes, readServerFacts } from "../store/home/server-facts.ts";
import { forgetfulPooler } from "../store/home/server-trouble.ts";

/** Examines what a service with this environment would find. Changes nothing in the store, and works beside a running service. */
export async function examineInstallation(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  const unknown = describeUnknownVariables(environment).map((detail) => warning("settings", detail));
  let config: Config;
  try {
    config = readConfig(environment);
  } catch (error) {
    return [...unknown, problem("settings", messageOf(error))];
  }
  const settings = unknown.length === 0 ? [ok("settings", "Every setting can be read, and none is unknown.")] : unknown;
  const store = config.databaseUrl === undefined ? await examineEmbedded(config) : await examineServer(config);
  return [...settings, ...judgeSurroundings(config), ...store];
}

async function examineServer(config: Config): Promise<Finding[]> {
  const databaseUrl = config.databaseUrl ?? "";
  let isPooled = false;
  // A pooler that drops prepared statements is one of the findings and must not hide the other findings, so no prepared statements are used here.
  const database = await openHome({ ...config, preparedStatements: false }, { onPooler: () => (isPooled = true) });
  try {
    const facts = await reachServer(database, { databaseUrl, timeoutMs: 0, onWaiting: () => {} });
    return [
      ok("database", `PostgreSQL ${facts.version} answers.`),
      ...judgeServer(facts, config),
      isPooled
        ? await judgePooler(config, databaseUrl)
        : ok("pooler", "There is no connection pooler before the server."),
      await judgeClock(database),
      ...(await examineStore(database, config)),
    ];
  } catch (error) {
    return [problem("database", messageOf(error))];
  } finally {
    await database.close();
  }
}

async function examineEmbedded(config: Config): Promise<Finding[]> {
  const cluster = join(config.dataDir, "postgres");
  if (!existsSync(cluster)) {
    return [ok("database", `There is no store in ${config.dataDir} yet. The first start creates it.`)];
  }
  let syncCount = 0;
  let findings: Finding[];
  try {
    const database = await openHome(config, { onSync: () => (syncCount += 1) });
    try {
      const facts = await readServerFacts(database);
      const answers = ok("database", `The embedded PostgreSQL ${facts.version} answers.`);
      findings = [answers, ...judgeServer(facts, config), ...(await examineStore(database, config))];
    } finally {
      // Closing the store ends with a checkpoint, which is synced to disk like every commit. So at least one sync must be counted.
      await database.close();
    }
  } catch (error) {
    if (!(error instanceof DirectoryLockedError)) return [problem("database", messageOf(error))];
    const left =
      "durability, schema and secret key are checked when a service starts, or by this command when the process is stopped";
    return [ok("database", `A running process holds the embedded store: ${left}.`)];
  }
  const synced =
    syncCount > 0
      ? ok("durability", "An fsync of the embedded store reaches the disk.")
      : problem(
          "durability",
          "No fsync of the embedded store reached the disk: a power cut can lose what was acknowledged. This is a defect of Stepwell; please report it.",
        );
  return [...findings, synced];
}

/** Judges the content of the store, of an embedded store as well as of one on a server. */
async function examineStore(database: Database, config: Config): Promise<Finding[]> {
  const { applied, known } = await readSchema(database);
  const megabytes = Math.ceil((await databaseBytes(database)) / 1024 / 1024);
  const size = ok("disk", `The database holds ${megabytes} MB.`);
  if (applied === 0) return [size, ok("schema", "The database has no tables yet. The first start creates them.")];
  if (applied > known) {
    const detail = `The store is at schema ${applied}, and this program knows only ${known}. Use a version of Stepwell at least as new as the one that ran last.`;
    return [size, problem("schema", detail)];
  }
  if (applied < known) {
    const detail = `The store is at schema ${applied} of ${known}. The next start brings it up to date, and checks the secret key.`;
    return [size, warning("schema", detail)];
  }
  return [size, ok("schema", `The schema is up to date (${applied}).`), await examineSecretKey(database, config)];
}

async function examineSecretKey(database: Database, config: Config): Promise<Finding> {
  const file = join(config.dataDir, "secret.key");
  if (config.databaseUrl === undefined && config.secretKey === undefined && !existsSync(file)) {
    if (!(await hasSealedValues(database))) return ok("secret key", `The first start creates the key, in ${file}.`);
    const detail = `${file} is missing, and STEPWELL_SECRET_KEY is not set. Restore the file from its backup: a new key cannot decrypt what is encrypted in the store.`;
    return problem("secret key", detail);
  }
  try {
    switch (await judgeSecretKey(database, secretBoxOf(config))) {
      case "wrong":
        return problem("secret key", new WrongSecretKeyError().message);
      case "unknown":
        return ok("secret key", "The store has no check value for the key yet. The next start creates one.");
      case "opens":
        return ok("secret key", "The key decrypts the store's check value.");
    }
  } catch (error) {
    return problem("secret key", messageOf(error));
  }
}

async function judgePooler({ preparedStatements, databaseTimeoutMs }: Config, databaseUrl: string): Promise<Finding> {
  try {
    const { sharesSessions, keepsPreparedStatements } = await examinePooler(databaseUrl, databaseTimeoutMs);
    if (!sharesSessions)
      return ok("pooler", "There is a connection pooler before the server. It does not share sessions.");
    if (keepsPreparedStatements || !preparedStatements) {
      return ok(
        "pooler",
        "There is a connection pooler before the server. It shares sessions, and the settings allow for that.",
      );
    }
    return problem("pooler", `DATABASE_URL: ${forgetfulPooler}`);
  } catch (error) {
    return warning(
      "pooler",
      `There is a connection pooler before the server, and it could not be checked: ${messageOf(error)}.`,
    );
  }
}

/** If the clocks differ by more than this, one-time codes and tokens of external issuers begin to be refused. */
const greatestSkewMs = 30_000;
const noticedSkewMs = 2_000;

async function judgeClock(database: Database): Promise<Finding> {
  const before = Date.now();
  const { now } = await readServerFacts(database);
  const skewMs = now - (before + Date.now()) / 2;
  const seconds = (Math.abs(skewMs) / 1_000).toFixed(1);
  if (Math.abs(skewMs) < noticedSkewMs)
    return ok("clock", `The database's clock and this machine's are ${seconds} s apart.`);
  const detail = `The database's clock is ${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} this machine's. Stepwell uses the database's clock. Check the time synchronization of both machines.`;
  return Math.abs(skewMs) < greatestSkewMs ? warning("clock", detail) : problem("clock", detail);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
