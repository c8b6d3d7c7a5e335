import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "./database.ts";

/** Settings and state of a PostgreSQL server, as this session has them. */
export interface ServerFacts {
  readonly version: string;
  /** The version as a number, such as 150004 for 15.4. */
  readonly versionNumber: number;
  readonly now: Timestamp;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousCommit: string;
  readonly synchronousStandbyNames: string;
  readonly standbyCount: number;
  /** The connections that this role may hold in this database, without those that are reserved for administrators. */
  readonly maxConnections: number;
}

/**
 * Reads settings and small catalogs in one statement, which is fast enough for the start of a node. It also works on a database without our tables.
 */
export async function readServerFacts(db: Queryable): Promise<ServerFacts> {
  const [row] = await db.query(readFacts, []);
  if (row === undefined) throw new Error("The server returned no row with its facts.");
  return row;
}

const readFacts = statement<ServerFacts>(
  "read_server_facts",
  "global",
  `SELECT current_setting('server_version') AS version,
     current_setting('server_version_num')::integer AS "versionNumber",
     clock_timestamp() AS now,
     current_setting('fsync') AS fsync,
     current_setting('full_page_writes') AS "fullPageWrites",
     current_setting('synchronous_commit') AS "synchronousCommit",
     current_setting('synchronous_standby_names') AS "synchronousStandbyNames",
     (SELECT count(*)::integer FROM pg_stat_replication) AS "standbyCount",
     least(
       current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
         - coalesce(current_setting('reserved_connections', true)::integer, 0),
       (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user),
       (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database())
     ) AS "maxConnections"`,
);

/** The size of the database on the disk, with indexes. To answer, the server looks at each file of the database. */
export async function databaseBytes(db: Queryable): Promise<number> {
  const [row] = await db.query(readSize, []);
  return row?.bytes ?? 0;
}

const readSize = statement<{ bytes: number }>(
  "read_database_size",
  "global",
  "SELECT pg_database_size(current_database()) AS bytes",
);
