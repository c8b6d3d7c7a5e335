import { afterAll, beforeAll } from "vitest";
import { readConfig } from "../../server/src/config.ts";
import { openStore } from "../../server/src/open-store.ts";
import type { Database } from "../../server/src/store/home/database.ts";
import type { PreparedStore, StoreHome } from "./stores.ts";

/** Gives the tests of a group a store of their own, with its schema, but without a service that would run its jobs. */
export function useDatabase(home: StoreHome): { readonly database: Database } {
  let store: PreparedStore | undefined;
  let database: Database | undefined;
  beforeAll(async () => {
    store = await home.prepare();
    database = await openStore(readConfig(store.environment));
  }, 60_000);
  afterAll(async () => {
    await database?.close();
    await store?.remove();
  });
  return {
    get database() {
      if (database === undefined) throw new Error("The store is opened before the first test.");
      return database;
    },
  };
}
