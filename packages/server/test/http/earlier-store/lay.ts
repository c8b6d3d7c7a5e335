import { said } from "@stepwell/testing/notes.ts";
import type { PreparedStore, StoreHome } from "@stepwell/testing/stores.ts";
import { readConfig } from "../../../src/config.ts";
import { openHome } from "../../../src/open-store.ts";
import type { Database } from "../../../src/store/home/database.ts";
import { migrate, readSchema } from "../../../src/store/home/migrate.ts";
import type { EarlierStore } from "./fixture.ts";

/** A home with the store of the earlier build: its schema and its rows. `issuer` is the current address of its identity provider. */
export function layingEarlierStore(home: StoreHome, store: EarlierStore, issuer: string): StoreHome {
  return {
    name: home.name,
    async prepare(): Promise<PreparedStore> {
      const prepared = await home.prepare();
      const database = await openHome(readConfig(prepared.environment), {});
      await migrateTo(database, store.schema);
      await fill(database, store);
      await passOver(database, store);
      await database.query(said("UPDATE external_identity SET issuer = $1"), [issuer]);
      await database.close();
      return prepared;
    },
  };
}

/** Makes the store anew with the migrations up to number `schema`. Until these have run, the later ones are marked as applied, and so are skipped. */
async function migrateTo(database: Database, schema: number): Promise<void> {
  const { known } = await readSchema(database);
  for (const text of [
    "DROP SCHEMA public CASCADE",
    "CREATE SCHEMA public",
    "CREATE TABLE schema_migration (number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())",
    `INSERT INTO schema_migration (number, name) SELECT number, 'later' FROM generate_series(${schema + 1}, ${known}) AS number`,
  ]) {
    await database.query(said(text), []);
  }
  await migrate(database);
  await database.query(said("DELETE FROM schema_migration WHERE name = 'later'"), []);
}

async function fill(database: Database, { tables }: EarlierStore): Promise<void> {
  for (const { name, columns, rows } of tables) {
    const names = columns.map((column) => column.name);
    const values = columns.map((column) => `"${column.name}"::${column.type}`);
    const arrays = columns.map((_, index) => `$${index + 1}::text[]`);
    const insert = `INSERT INTO ${name} (${names}) SELECT ${values} FROM unnest(${arrays}) AS given (${names})`;
    await database.query(
      said(insert),
      columns.map((_, index) => rows.map((row) => row[index])),
    );
  }
}

/**
 * Adjusts times to the age of the store. Idempotency-Keys, which are kept for a day, become new. Timers that were due within a day become due now,
 * and later ones stay in the future.
 */
async function passOver(database: Database, { schema, writtenAt }: EarlierStore): Promise<void> {
  for (const table of ["idempotency_key", "user_idempotency_key"]) {
    await database.query(said(`UPDATE ${table} SET created_at = now()`), []);
  }
  const now = Date.now();
  const states = schema < 11 ? ["state"] : ["state", "short_state"];
  const moved = states.map(
    (column) => `${column} = regexp_replace(${column}::text, '"wakeAt": ?[0-9]+', '"wakeAt":' || moved.ms)::json`,
  );
  const move = `UPDATE job
    SET wake_at = to_timestamp(moved.ms / 1000.0), ${moved.join(", ")}
    FROM (
      SELECT organization_id, job_id, CASE WHEN wake_at > $1::timestamptz + interval '1 day' THEN $2::bigint ELSE $3::bigint END AS ms
      FROM job WHERE wake_at IS NOT NULL
    ) AS moved
    WHERE job.organization_id = moved.organization_id AND job.job_id = moved.job_id`;
  await database.query(said(move), [writtenAt, now + 86_400_000, now - 1_000]);
}
