import { afterAll, beforeAll, expect, test } from "vitest";
import { registerStatements } from "./registered-statements.ts";
import { openRowsOnly, type RowsOnly } from "./rows-only.ts";
import { tablesWithoutOrganization } from "./shard-plans.ts";
import { organizationTables } from "./statement-rules.ts";

const statements = await registerStatements();

let rows: RowsOnly;

beforeAll(async () => {
  rows = await openRowsOnly();
});

afterAll(() => rows.close());

test("every statement on organizations' tables names the organization at each table (rule 1)", async () => {
  const offenders: string[] = [];
  for (const statement of statements) {
    if (statement.scope !== "organization") continue;
    const tables = await tablesWithoutOrganization(rows.client, statement.text);
    if (tables.length > 0) offenders.push(`${statement.name}: ${tables.join(", ")}`);
  }
  expect(offenders).toEqual([]);
});

const hasOwn = "organization_id = ANY($1::uuid[])";

test.each([
  [["job_history"], `SELECT 1 FROM job JOIN job_history USING (organization_id, job_id) WHERE job.${hasOwn}`],
  [
    ["role"],
    `SELECT 1 FROM member LEFT JOIN role ON role.organization_id = member.organization_id WHERE member.${hasOwn}`,
  ],
  [
    ["job_history"],
    `SELECT (SELECT json_agg(entries) FROM job_history WHERE job_history.organization_id = job.organization_id) FROM job WHERE ${hasOwn}`,
  ],
  [
    ["workflow_tag_history"],
    "INSERT INTO workflow_tag_history (organization_id) SELECT organization_id FROM workflow_tag_history",
  ],
  [[], "SELECT 1 FROM job JOIN job_history USING (organization_id, job_id) WHERE job.organization_id = $1"],
  [
    [],
    `SELECT 1 FROM job JOIN job_history USING (organization_id, job_id) WHERE job.${hasOwn} AND job_history.${hasOwn}`,
  ],
] as const)("the check of rule 1 finds %j in a statement", async (tables, text) => {
  expect(await tablesWithoutOrganization(rows.client, text)).toEqual(tables);
});

test("the organizations' tables are those whose primary key begins with the organization", async () => {
  const { rows: found } = await rows.client.query<{ table: string }>(
    `SELECT table_of.relname AS table
     FROM pg_index AS key
     JOIN pg_class AS table_of ON table_of.oid = key.indrelid AND table_of.relnamespace = 'public'::regnamespace
     JOIN pg_attribute AS first ON first.attrelid = key.indrelid AND first.attnum = key.indkey[0]
     WHERE key.indisprimary AND first.attname = 'organization_id'`,
  );
  expect(found.map(({ table }) => table).sort()).toEqual([...organizationTables].sort());
});

test("no unique index of an organizations' table spans organizations (rule 6)", async () => {
  const { rows: found } = await rows.client.query<{ table: string; index: string }>(
    `SELECT indrelid::regclass::text AS table, indexrelid::regclass::text AS index
     FROM pg_index
     WHERE indisunique AND NOT EXISTS (
       SELECT 1 FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY(indkey) AND attname = 'organization_id')`,
  );
  expect(found.filter(({ table }) => organizationTables.has(table))).toEqual([]);
});

test("a foreign key of an organizations' table refers to another one, by the organization (rule 6)", async () => {
  const { rows: found } = await rows.client.query<{ from: string; to: string; definition: string }>(
    `SELECT conrelid::regclass::text AS from, confrelid::regclass::text AS to, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f'`,
  );
  const own = found.filter(({ from, to }) => organizationTables.has(from) || organizationTables.has(to));
  expect(own.length).toBeGreaterThan(10);
  for (const { from, to, definition } of own) {
    expect({ from, isOwn: organizationTables.has(from) && organizationTables.has(to), definition }).toEqual({
      from,
      isOwn: true,
      definition: expect.stringMatching(/^FOREIGN KEY \(organization_id\b.*REFERENCES \w+\(organization_id\b/),
    });
  }
});

test("no table has a trigger of the service (rule 6)", async () => {
  const { rows: found } = await rows.client.query("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal");
  expect(found).toEqual([]);
});
