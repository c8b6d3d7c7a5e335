import { postgresHome } from "@stepwell/testing/stores.ts";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { openStore } from "../../../src/open-store.ts";
import { sqlState, statement } from "../../../src/store/home/database.ts";

const coded = (code: unknown) => Object.assign(new Error("x"), { code });

test.each(["23505", "40P01", "XX001", "HV00A", "P0001", "F0000"])("%s is an error code of PostgreSQL", (code) => {
  expect(sqlState(coded(code))).toBe(code);
});

test.each(["EPIPE", "EPERM", "ECONNRESET", "ETIMEDOUT", 23_505, undefined])(
  "%s is not an error code of PostgreSQL",
  (code) => {
    expect(sqlState(coded(code))).toBeUndefined();
  },
);

test("transactions run at READ COMMITTED, also in a database whose default is another isolation level", async () => {
  const store = await postgresHome.prepare();
  onTestFinished(() => store.remove());
  const config = readConfig(store.environment);
  const setter = await openStore(config);
  await setter.query(setDefault, []);
  await setter.close();

  const database = await openStore(config);
  onTestFinished(() => database.close());
  const levels = await database.transaction((transaction) => transaction.query(isolationLevel, []), { isKeyed: true });

  expect(levels).toEqual([{ outside: "serializable", inside: "read committed" }]);
});

test("a part of a transaction's work that goes on after another has failed writes nothing", async () => {
  const store = await postgresHome.prepare();
  onTestFinished(() => store.remove());
  const database = await openStore(readConfig(store.environment));
  onTestFinished(() => database.close());
  const { promise: rolledBack, resolve } = Promise.withResolvers<void>();
  let late: Promise<unknown> = Promise.resolve();
  const failing = database.transaction(async (transaction) => {
    late = rolledBack.then(() => transaction.query(makeTable, []));
    throw new Error("This part fails.");
  });
  await expect(failing).rejects.toThrow("This part fails.");
  resolve();
  await expect(late).rejects.toThrow("The transaction is over.");
  expect(await database.query(findTable, [])).toEqual([{ name: null }]);
});

const makeTable = statement("test_make_table", "global", "CREATE TABLE late_part ()");
const findTable = statement<{ name: string | null }>(
  "test_find_table",
  "global",
  "SELECT to_regclass('late_part')::text AS name",
);

const setDefault = statement(
  "test_set_default_isolation",
  "global",
  "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$",
);
const isolationLevel = statement<{ outside: string; inside: string }>(
  "test_isolation_level",
  "global",
  `SELECT current_setting('default_transaction_isolation') AS outside, current_setting('transaction_isolation') AS inside`,
);
