import { newDatabase } from "@stepwell/testing/postgres/own-database.ts";
import pg from "pg";

/** A database for rows without foreign keys, for tests that only look at how the rows are found. */
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
