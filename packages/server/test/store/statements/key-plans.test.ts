import { fillKeyedTables, type RowKey, rowKey } from "@stepwell/testing/keyed/keyed-rows.ts";
import { type KeyedStatement, keyedStatements } from "@stepwell/testing/keyed/keyed-statements.ts";
import { type Asked, costOf, planModes } from "@stepwell/testing/postgres/plan-cost.ts";
import { scope } from "@stepwell/testing/scope.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deleteInvitationsExpiredBefore } from "../../../src/store/access/invitations.ts";
import { touchApiTokens } from "../../../src/store/access/tokens.ts";
import type { Database, Statement } from "../../../src/store/home/database.ts";
import { deleteExpiredKeys } from "../../../src/store/jobs/idempotency.ts";
import { openRowsOnly, type RowsOnly } from "./rows-only.ts";

/**
 * If a statement names its rows only by an array of organizations and an array of ids, it looks for every pair of an organization and an id. A batch
 * of 400 jobs of as many organizations would then cost 160,000 look-ups, or a scan of the table. Both homes of the store make the same plans, so one
 * is enough. `npm run bench -- plans` measures the same statements in a large store.
 */
const organizationCount = 400;
/**
 * The quick loop has fewer rows, since filling the tables takes most of the time. Even then, the tables have enough rows for the planner to prefer an
 * index to a scan.
 */
const rowsPerOrganization = scope === "quick" ? 20 : 100;
const tables = { organizations: organizationCount, rowsPerOrganization, historyRowsPerJob: 1 };
/** The pages that one row may cost: the look-up in an index, the row itself, and writing it. */
const maxPagesPerRow = 60;
/** How many rows of one table may be compared in vain with each row of another. */
const maxMissesPerRow = 32;

let rows: RowsOnly;

beforeAll(async () => {
  rows = await openRowsOnly();
  await fillKeyedTables(rows.client, tables);
}, 120_000);

afterAll(() => rows.close());

const keys = Array.from({ length: organizationCount }, (_, index) =>
  rowKey(index + 1, (index % tables.rowsPerOrganization) + 1),
);
const later = Date.parse("2026-01-31T12:00:00Z");

const maintenance: readonly KeyedStatement[] = [
  {
    name: "delete_expired_idempotency_keys",
    ask: (db) => deleteExpiredKeys(db as Database, later, organizationCount),
  },
  {
    name: "touch_api_tokens",
    ask: (db, asked) =>
      touchApiTokens(
        db,
        asked.map(({ organizationId, tokenId }) => ({ ownerId: organizationId, tokenId, usedAt: later })),
      ),
  },
  { name: "delete_invitations", ask: (db) => deleteInvitationsExpiredBefore(db as Database, later, organizationCount) },
];

test.each([...keyedStatements, ...maintenance])("$name finds 400 rows of 400 organizations by their keys", (keyed) =>
  expectCheap(keyed, keys),
);

const keysOfOne = Array.from({ length: tables.rowsPerOrganization }, (_, index) => rowKey(1, index + 1));

test.each(keyedStatements)("$name finds all rows of one organization by their keys", (keyed) =>
  expectCheap(keyed, keysOfOne),
);

test.each([
  { name: "update_jobs", table: "job" },
  { name: "mark_calls_begun", table: "job_call" },
  { name: "put_job_calls", table: "job_call" },
])("$name does not touch the indexes if it changes none of their columns", async ({ name, table }) => {
  const keyed = keyedStatements.find((one) => one.name === name);
  // The other tests have filled the pages with rows that were rolled back.
  await rows.client.query(`VACUUM ${table}`);
  const running = keys.filter((_key, index) => index % 2 === 1);
  await rows.client.query("BEGIN");
  try {
    const before = await countUpdates(table);
    await keyed?.ask(databaseOf(rows.client), running, tables.historyRowsPerJob);
    const after = await countUpdates(table);
    expect(after.all - before.all).toBe(running.length);
    expect(after.inPlace - before.inPlace).toBe(running.length);
  } finally {
    await rows.client.query("ROLLBACK");
  }
});

/** Counts the rows of the table that this session has updated so far, and those of them that stayed in their page without a new index entry. */
async function countUpdates(table: string): Promise<{ all: number; inPlace: number }> {
  const answer = await rows.client.query<{ all: number; inPlace: number }>(
    `SELECT pg_stat_get_xact_tuples_updated($1::regclass)::integer AS all,
       pg_stat_get_xact_tuples_hot_updated($1::regclass)::integer AS "inPlace"`,
    [table],
  );
  return answer.rows[0] ?? { all: 0, inPlace: 0 };
}

function databaseOf(client: RowsOnly["client"], onQuery: (asked: Asked) => void = () => {}): Database {
  const query = async (statement: Statement<unknown>, values: readonly unknown[]) => {
    onQuery({ statement, values });
    return (await client.query(statement.text, [...values])).rows;
  };
  return { query, groupOf: () => "all" } as unknown as Database;
}

async function expectCheap(keyed: KeyedStatement, asked: readonly RowKey[]): Promise<void> {
  const statements = await statementsOf(keyed, asked);
  for (const mode of planModes) {
    let pages = 0;
    let misses = 0;
    for (const one of statements) {
      const cost = await costOf(rows.client, one, mode);
      const scanned = cost.scanned.filter((table) => !hasRowsPerOrganization.has(table));
      expect({ mode, scanned }).toEqual({ mode, scanned: [] });
      pages += cost.pages;
      misses += cost.misses;
    }
    expect(pages, mode).toBeLessThan(asked.length * maxPagesPerRow);
    expect(misses, mode).toBeLessThan(asked.length * maxMissesPerRow);
  }
}

/** Tables with only one row for each of the 400 organizations. A statement may read such a table completely. */
const hasRowsPerOrganization: ReadonlySet<string> = new Set(["organization", "member", "role"]);

/** Returns the statements of that name with their values, as the store's own function sends them. */
async function statementsOf({ name, ask }: KeyedStatement, asked: readonly RowKey[]): Promise<readonly Asked[]> {
  const found: Asked[] = [];
  const database = databaseOf(rows.client, (one) => {
    if (one.statement.name === name) found.push(one);
  });
  await rows.client.query("BEGIN");
  try {
    await ask(database, asked, tables.historyRowsPerJob);
  } finally {
    await rows.client.query("ROLLBACK");
  }
  if (found.length === 0) throw new Error(`The statement ${name} was not sent.`);
  return found;
}
