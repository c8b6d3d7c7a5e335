import { expect, test } from "vitest";
import { registerStatements } from "./registered-statements.ts";
import { rules } from "./statement-rules.ts";

const statements = await registerStatements();

test.each(Object.entries(rules))("no statement breaks rule %s", (_rule, isBroken) => {
  expect(statements.length).toBeGreaterThan(40);
  expect(statements.filter(isBroken).map((statement) => statement.name)).toEqual([]);
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
  [
    "16: takes the organization of what it inserts from an organizations' table",
    "organization",
    "INSERT INTO job (organization_id, job_id) SELECT organization_id, job_id FROM json_to_recordset($1) AS new (organization_id uuid, job_id uuid)",
  ],
  [
    "16: takes the organization of what it inserts from an organizations' table",
    "organization",
    "INSERT INTO job_call AS held (organization_id, job_id) SELECT new.organization_id, new.job_id FROM unnest($1::uuid[], $2::uuid[]) AS new (organization_id, job_id)",
  ],
  [
    "16: inserts from a query that Citus hands on to one shard",
    "organization",
    "INSERT INTO job_call (organization_id, begun) SELECT organization.organization_id, (SELECT 1 FROM job LIMIT 1) IS NULL FROM organization",
  ],
  [
    "16: inserts from a query that Citus hands on to one shard",
    "organization",
    "INSERT INTO job_call (organization_id, begun) SELECT organization.organization_id, turn.is_next FROM organization CROSS JOIN LATERAL (SELECT true AS is_next) AS turn",
  ],
  [
    "16: inserts from a query that Citus hands on to one shard",
    "organization",
    "INSERT INTO job_tree (organization_id, count) SELECT job.organization_id, count(*) FROM job GROUP BY job.job_id",
  ],
  ["17: searches over all organizations without changing anything", "maintenance", "DELETE FROM task_worker LIMIT $1"],
  ["14: leaves nothing behind in a session", "global", "SELECT pg_advisory_lock($1)"],
  ["14: leaves nothing behind in a session", "global", "LISTEN jobs"],
  ["14: leaves nothing behind in a session", "global", "SELECT set_config('work_mem', '64kB', false)"],
] as const)("the check of rule %s detects a statement that breaks it", (rule, scope, text) => {
  expect(rules[rule]?.({ scope, text })).toBe(true);
});

test("statements that acknowledge something never use DO NOTHING (rule 5)", () => {
  const silent = statements.filter((statement) => statement.text.includes("DO NOTHING"));
  // None of these statements acknowledges anything: two wait for another node that does the same work, and two reject a key or a name that is
  // taken.
  const expected = ["claim_organization_key", "claim_schema_migration", "insert_audit_seal", "insert_workflow"];
  expect(silent.map((statement) => statement.name).sort()).toEqual(expected);
});
