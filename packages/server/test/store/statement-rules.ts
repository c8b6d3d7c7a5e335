import type { Statement } from "../../src/store/home/database.ts";

type Checked = Pick<Statement<unknown>, "scope" | "text">;

/** The rules of docs/internals/store.md that can be checked from a statement's text. Each answers whether the statement breaks it. */
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
  "14: leaves nothing behind in a session": ({ text }) =>
    /^SET (?!LOCAL)|^(UN)?LISTEN\b|^NOTIFY\b|pg_notify|pg_(try_)?advisory_lock|\bTEMP(ORARY)?\b|WITH HOLD|set_config\([^)]*false\)/i.test(
      text,
    ),
};

const organizationTables: ReadonlySet<string> = new Set([
  "organization",
  "member",
  "api_token",
  "idempotency_key",
  "workflow",
  "workflow_version",
  "workflow_tag",
  "workflow_tag_history",
  "job",
  "job_call",
  "child_job",
  "job_tree",
  "job_notice",
  "task_queue",
  "task_worker",
  "job_history",
  "job_value",
  "job_event",
  "organization_limit",
  "role",
  "invitation",
  "oauth_client",
  "oauth_consent",
  "audit_entry",
  "audit_unsealed",
  "audit_seal",
  "audit_sealed",
  "metric_change",
  "metric_rollup",
  "metric_backlog",
]);

function tablesOf(text: string): string[] {
  return [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)/g)].map(([, table]) => table ?? "");
}
