import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { statements } from "../../src/store/home/database.ts";
import { rules } from "./statement-rules.ts";

/** Every file of the store, so that every statement is registered. */
const store = resolve(import.meta.dirname, "../../src/store");
/** These files run on their own, as a process and as a thread. */
const programs = /(embedded-create|statement-watch-thread)\.ts$/;
for (const file of readdirSync(store, { recursive: true, encoding: "utf8" })) {
  if (file.endsWith(".ts") && !programs.test(file)) await import(join(store, file));
}

test.each(Object.entries(rules))("no statement breaks rule %s", (_rule, isBroken) => {
  expect(statements.size).toBeGreaterThan(40);
  expect([...statements.values()].filter(isBroken).map((statement) => statement.name)).toEqual([]);
});

test.each([
  [
    "1: names the organization wherever it touches an organization's table",
    "organization",
    "SELECT 1 FROM job WHERE job_id = $1",
  ],
  [
    "1: names the organization wherever it touches an organization's table",
    "organization",
    "INSERT INTO job (job_id) VALUES ($1)",
  ],
  ["1: touches organizations' tables in their scope only", "global", "DELETE FROM job WHERE job_id = $1"],
  ["2: locks rows only inside of a group", "maintenance", "SELECT 1 FROM job LIMIT $1 FOR UPDATE SKIP LOCKED"],
  ["2: is bounded where it searches over all organizations", "maintenance", "SELECT 1 FROM job WHERE wake_at < $1"],
  ["4: calls nothing volatile in an UPDATE", "organization", "UPDATE job SET updated_at = clock_timestamp()"],
  [
    "4: takes no time of its own in a DO UPDATE",
    "global",
    "INSERT INTO node VALUES ($1) ON CONFLICT (a) DO UPDATE SET b = now()",
  ],
  [
    "6: joins organizations' tables by organization_id",
    "organization",
    "SELECT 1 FROM job JOIN workflow USING (workflow_id) WHERE true",
  ],
  ["6: uses no trigger, MERGE or LOCK TABLE", "global", "LOCK TABLE job"],
  ["6: changes nothing in a WITH", "organization", "WITH gone AS (DELETE FROM job RETURNING 1) SELECT 1"],
  ["6: has no subquery in VALUES", "organization", "INSERT INTO job VALUES ($1, (SELECT 1))"],
  ["14: leaves nothing behind in a session", "global", "SELECT pg_advisory_lock($1)"],
  ["14: leaves nothing behind in a session", "global", "LISTEN jobs"],
  ["14: leaves nothing behind in a session", "global", "SELECT set_config('work_mem', '64kB', false)"],
] as const)("the check of rule %s notices a statement that breaks it", (rule, scope, text) => {
  expect(rules[rule]?.({ scope, text })).toBe(true);
});

test("acknowledging paths never answer a conflict with nothing (rule 5)", () => {
  const silent = [...statements.values()].filter((statement) => statement.text.includes("DO NOTHING"));
  // None of these statements acknowledges anything: two wait for another node that does the same work, and two refuse a number or a name that is taken.
  const expected = ["claim_organization_key", "claim_schema_migration", "insert_audit_seal", "insert_workflow"];
  expect(silent.map((statement) => statement.name).sort()).toEqual(expected);
});
