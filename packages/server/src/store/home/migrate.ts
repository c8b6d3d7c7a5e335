import { readdirSync, readFileSync } from "node:fs";
import { type Database, sqlState, statement, type Transaction } from "./database.ts";

/**
 * Brings the store to this program's schema. Several nodes may start at once: each migration runs in a transaction that first claims the migration's
 * number, and a second node that claims this number waits until the first has committed. Throws when the store is newer than this program.
 */
export async function migrate(database: Database): Promise<void> {
  await createLedgerTable(database);
  const known = readMigrations();
  const done = await database.query(listDone, []);
  const newest = done.at(-1)?.number ?? 0;
  const numbers = new Set(done.map(({ number }) => number));
  if (newest > known.length) {
    throw new Error(
      `The store is at schema ${newest}, but this program knows only ${known.length}. Start a version of Stepwell at least as new as the one that ran last.`,
    );
  }
  // Most starts find every migration applied. A transaction for each of them would make such a start slower, so applied ones are left out.
  for (const migration of known.filter(({ number }) => !numbers.has(number))) {
    await database.transaction((transaction) => apply(transaction, migration));
  }
}

/** Reads the newest migration that was applied (0 in a store without tables), and the newest that this program knows. Writes nothing. */
export async function readSchema(database: Database): Promise<{ readonly applied: number; readonly known: number }> {
  const [ledger] = await database.query(findLedger, []);
  const done = ledger?.isThere === true ? await database.query(listDone, []) : [];
  return { applied: done.at(-1)?.number ?? 0, known: readMigrations().length };
}

/**
 * Creates the table of migrations. When several nodes create it at the same instant, IF NOT EXISTS does not help: a later node may still fail because
 * the first node has made the table or its type. The error is a duplicate key (23505), table (42P07) or other object (42710), depending on how far
 * the first node was.
 */
async function createLedgerTable(database: Database): Promise<void> {
  try {
    await database.query(createLedger, []);
  } catch (error) {
    if (!["23505", "42P07", "42710"].includes(sqlState(error) ?? "")) throw error;
    await database.query(createLedger, []);
  }
}

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly statements: readonly string[];
}

async function apply(transaction: Transaction, migration: Migration): Promise<void> {
  const claimed = await transaction.query(claim, [migration.number, migration.name]);
  if (claimed.length === 0) return;
  for (const [index, text] of migration.statements.entries()) {
    await transaction.query(
      { name: `migration_${migration.number}_${index}`, scope: "global", text, planned: "each-time" },
      [],
    );
  }
}

/** The migrations, such as `migrations/0001_name.sql`, in order and without gaps. A migration on the main branch is never edited. */
function readMigrations(): Migration[] {
  const directory = new URL("../migrations/", import.meta.url);
  const files = readdirSync(directory)
    .filter((file) => file.endsWith(".sql"))
    .sort();
  return files.map((file, index) => {
    const number = Number(file.slice(0, 4));
    if (number !== index + 1) throw new Error(`Migration ${file} should have number ${index + 1}.`);
    return {
      number,
      name: file.slice(5, -4),
      statements: splitStatements(readFileSync(new URL(file, directory), "utf8")),
    };
  });
}

/**
 * Splits a migration into its commands, because a prepared statement holds one command. In our migrations a command ends with a semicolon at the end
 * of a line, outside of `$$`.
 */
function splitStatements(sql: string): string[] {
  const withoutComments = sql.replace(/^\s*--.*$/gm, "");
  const parts = withoutComments.split(/(\$\$[\s\S]*?\$\$)/);
  const protectedBodies = parts.map((part, index) => (index % 2 === 1 ? part.replaceAll(";\n", ";\r") : part)).join("");
  return protectedBodies
    .split(/;\s*\n/)
    .map((text) => text.replaceAll(";\r", ";\n").trim())
    .filter((text) => text !== "");
}

const createLedger = statement<never>(
  "create_schema_migration",
  "global",
  `CREATE TABLE IF NOT EXISTS schema_migration (
     number integer PRIMARY KEY,
     name text NOT NULL,
     applied_at timestamptz NOT NULL DEFAULT now()
   )`,
);

const findLedger = statement<{ isThere: boolean }>(
  "find_schema_migration",
  "global",
  `SELECT to_regclass('schema_migration') IS NOT NULL AS "isThere"`,
);

const listDone = statement<{ number: number }>(
  "list_schema_migrations",
  "global",
  "SELECT number FROM schema_migration ORDER BY number",
);

/** Claims a migration's number. When another node is claiming the same number, waits for that node, and returns no row if it committed. */
const claim = statement<{ number: number }>(
  "claim_schema_migration",
  "global",
  `INSERT INTO schema_migration (number, name) VALUES ($1, $2)
   ON CONFLICT (number) DO NOTHING
   RETURNING number`,
);
