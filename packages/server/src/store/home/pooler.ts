import { randomBytes } from "node:crypto";
import pg from "pg";
import { sqlState } from "./database.ts";

export interface PoolerBehaviour {
  /**
   * True when another client got the server's session between two statements of one client. The pooler then shares sessions by transaction or by
   * statement.
   */
  readonly sharesSessions: boolean;
  readonly keepsPreparedStatements: boolean;
}

/**
 * Finds out with two connections how a connection pooler in front of the server behaves. The second connection begins a transaction, for which the
 * pooler may choose the session that the first connection used before. The next statement of the first connection then runs on another session, where
 * its prepared statement may be unknown.
 */
export async function examinePooler(connectionString: string, timeoutMs: number): Promise<PoolerBehaviour> {
  const options = { connectionString, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs };
  const [one, other] = [new pg.Client(options), new pg.Client(options)];
  for (const client of [one, other]) client.on("error", () => {});
  const name = `stepwell_doctor_${randomBytes(6).toString("hex")}`;
  try {
    await one.connect();
    await other.connect();
    const first = await sessionOf(one, name);
    await other.query("BEGIN");
    const taken = await sessionOf(other);
    const second = await sessionOf(one, name).catch((error: unknown) => {
      if (sqlState(error) === unknownStatement) return undefined;
      throw error;
    });
    // Without this, the prepared statement would stay in the server's session. The command fails when the pooler gave the statement another name.
    if (taken === first) await other.query(`DEALLOCATE ${name}`).catch(() => {});
    return { sharesSessions: taken === first || second !== first, keepsPreparedStatements: second !== undefined };
  } finally {
    await Promise.allSettled([one.end(), other.end()]);
  }
}

async function sessionOf(client: pg.Client, name?: string): Promise<number | undefined> {
  const text = "SELECT pg_backend_pid() AS pid";
  const { rows } = await client.query<{ pid: number }>(name === undefined ? { text } : { text, name });
  return rows[0]?.pid;
}

const unknownStatement = "26000";
