import type pg from "pg";
import { organizationTables } from "./statement-rules.ts";

/**
 * Returns the tables of organizations that a statement reads without a condition on the organization. Citus sends a statement to a single shard only
 * if each of its tables has such a condition. Like this function, Citus learns the conditions from PostgreSQL's own planner. A condition `= $1` on
 * one table also counts for tables that are joined to it by equality. A condition `= ANY($1)` counts only for its own table.
 */
export async function tablesWithoutOrganization(client: pg.Client, text: string): Promise<string[]> {
  const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
    `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`,
  );
  const [answer] = rows;
  if (answer === undefined) throw new Error("EXPLAIN answered nothing.");
  return [...nodesOf(answer["QUERY PLAN"][0].Plan)].flatMap((node) => {
    const table = node["Relation Name"];
    const isRead = table !== undefined && node["Node Type"] !== "ModifyTable";
    return isRead && organizationTables.has(table) && !namesOrganization(node) ? [table] : [];
  });
}

function namesOrganization(node: PlanNode): boolean {
  const conditions = [node["Index Cond"], node["Recheck Cond"], node.Filter].join(" ");
  return /\borganization_id = (ANY \()?\$\d+/.test(conditions);
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Cond"?: string;
  readonly "Recheck Cond"?: string;
  readonly Filter?: string;
  readonly Plans?: readonly PlanNode[];
}

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}
