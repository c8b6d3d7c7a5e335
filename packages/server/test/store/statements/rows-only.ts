import { newDatabase } from "@stepwell/testing/postgres/own-database.ts";
import pg from "pg";

/** A database that checks no foreign keys, so that a test can write the rows alone. It is for tests that only look at how rows are found. */
export interface RowsOnly {
  readonly client: pg.Client;
  close(): Promise<void>;
}

export async function openRowsOnly(): Promise<RowsOnly> {
  const database = await newDatabase("newest");
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query("SET session_replication_role = replica");
  return {
    client,
    async close() {
      await client.end();
      await database.remove();
    },
  };
}
