import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Statement } from "../../../src/store/home/database.ts";

/** The tables that belong to organizations. These are the tables that a migration distributes over the shards. */
export const organizationTables: ReadonlySet<string> = new Set(migrationTexts().flatMap(distributedIn));

function migrationTexts(): string[] {
  const migrations = resolve(import.meta.dirname, "../../../src/store/migrations");
  return readdirSync(migrations).map((file) => readFileSync(join(migrations, file), "utf8"));
}

function distributedIn(text: string): string[] {
  return [...text.matchAll(/^SELECT distribute\('(\w+)'\);$/gm)].map(([, table]) => table ?? "");
}

type Checked = Pick<Statement<unknown>, "scope" | "text">;

/** The rules of docs/internals/store.md that can be checked in the text of a statement. Each function tells whether the statement breaks its rule. */
export const rules: Readonly<Record<string, (statement: Checked) => boolean>> = {
  "1: names the organization wherever it touches an organization's table": ({ scope, text }) => {
    if (scope !== "organization") return false;
    if (/^INSERT/i.test(text)) return !/\(\s*organization_id\b/.test(text);
    return !/organization_id = (ANY\(\$\d+::uuid\[\]\)|\$\d+)/.test(text);
  },
  "1: touches organizations' tables in their scope only": ({ scope, text }) =>
    scope === "global" && tablesOf(text).some((table) => organizationTables.has(table)),
  "2: locks rows only inside of a group": ({ scope, text }) =>
    scope !== "organization" && /FOR (UPDATE|SHARE|NO KEY|KEY)|SKIP LOCKED/.test(text),
  "2: is bounded where it searches over all organizations": ({ scope, text }) =>
    scope === "maintenance" && !/\bLIMIT (\$\d+|1)\b/.test(text),
  "4: calls nothing volatile in an UPDATE": ({ text }) =>
    /^UPDATE/i.test(text) && /clock_timestamp|gen_random_uuid|random\(|timeofday/.test(text),
  "4: takes no time of its own in a DO UPDATE": ({ text }) =>
    /now\(\)|clock_timestamp|gen_random_uuid|random\(/.test(text.split("DO UPDATE")[1]?.split("RETURNING")[0] ?? ""),
  "6: joins organizations' tables by organization_id": ({ text }) => {
    const joins = text.matchAll(/\bJOIN (\w+)([\s\S]*?)(?=\b(?:LEFT JOIN|JOIN|WHERE|ORDER BY|GROUP BY)\b|$)/g);
    return [...joins].some(
      ([, table, rest]) => organizationTables.has(table ?? "") && !rest?.includes("organization_id"),
    );
  },
  "6: uses no trigger, MERGE or LOCK TABLE": ({ text }) => /\bMERGE\b|\bLOCK TABLE\b|\bCREATE TRIGGER\b/i.test(text),
  "6: changes nothing in a WITH": ({ text }) => /^WITH\b[\s\S]*\b(INSERT INTO|UPDATE|DELETE FROM)\b/i.test(text),
  "6: has no subquery in VALUES": ({ text }) => /VALUES\s*\([^)]*\(\s*SELECT/i.test(text),
  "16: takes the organization of what it inserts from an organizations' table": ({ text }) => {
    const query = insertedFrom(text);
    if (query === undefined) return false;
    const [, table = ""] = /^SELECT (\w+)\.organization_id,/.exec(query) ?? [];
    return !organizationTables.has(table) || !tablesOf(query).includes(table);
  },
  "16: inserts from a query that Citus hands on to one shard": ({ text }) =>
    selectsOf(insertedFrom(text) ?? "").some(
      (select) =>
        !/\bFROM\b/.test(select) ||
        /\b(LIMIT|OFFSET|UNION|INTERSECT|EXCEPT|OVER|DISTINCT ON)\b/.test(select) ||
        /\bGROUP BY (?![^)]*\borganization_id\b)/.test(select) ||
        /clock_timestamp|gen_random_uuid|random\(/.test(text),
    ),
  "17: searches over all organizations without changing anything": ({ scope, text }) =>
    scope === "maintenance" && !/^(SELECT|WITH)\b/.test(text),
  "14: leaves nothing behind in a session": ({ text }) =>
    /^SET (?!LOCAL)|^(UN)?LISTEN\b|^NOTIFY\b|pg_notify|pg_(try_)?advisory_lock|\bTEMP(ORARY)?\b|WITH HOLD|set_config\([^)]*false\)/i.test(
      text,
    ),
};

/** Returns the query from which an INSERT into an organizations' table takes its rows; undefined for any other statement. */
function insertedFrom(text: string): string | undefined {
  const [, table = ""] = /^INSERT INTO (\w+)[^(]*\([^)]*\)\s*(?:WITH|SELECT)\b/.exec(text) ?? [];
  return organizationTables.has(table) ? text.slice(text.indexOf("SELECT")) : undefined;
}

/** The text of each SELECT of a query, without its parts in parentheses. */
function selectsOf(query: string): string[] {
  return [...query.matchAll(/\bSELECT\b/g)].map(({ index }) => {
    let depth = 0;
    let own = "";
    for (const letter of query.slice(index)) {
      if (letter === ")") depth -= 1;
      if (depth < 0) break;
      if (depth === 0) own += letter;
      if (letter === "(") depth += 1;
    }
    return own;
  });
}

function tablesOf(text: string): string[] {
  return [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)/g)].map(([, table]) => table ?? "");
}
