import pg from "pg";
import type { Database, Statement } from "../../../server/src/store/home/database.ts";

/**
 * The first mode makes a plan for the given values, the second one a plan for any values. By default, PostgreSQL itself chooses one of the two for
 * each run.
 */
export const planModes = ["force_custom_plan", "force_generic_plan"] as const;

export interface Asked {
  readonly statement: Statement<unknown>;
  readonly values: readonly unknown[];
}

/** Returns the statement of this name with its values, as one of the store's functions sends it. */
export async function askedFor(name: string, ask: (db: Database) => Promise<unknown>): Promise<Asked> {
  let found: Asked | undefined;
  const query: Database["query"] = async (statement, values) => {
    if (statement.name === name) found = { statement, values };
    return [];
  };
  await ask({ query } as unknown as Database);
  if (found === undefined) throw new Error(`The statement ${name} was not sent.`);
  return found;
}

export interface Cost {
  readonly pages: number;
  /** Pairs of rows that a join compared but that did not match. */
  readonly misses: number;
  /** Rows that were read and then left out by a filter other than that of a join. */
  readonly filtered: number;
  /** Tables that were read completely. */
  readonly scanned: readonly string[];
}

/** Runs the statement and rolls it back. */
export async function costOf(client: pg.Client, { statement, values }: Asked, mode: string): Promise<Cost> {
  await client.query("BEGIN");
  try {
    await client.query(`SET LOCAL plan_cache_mode = ${mode}`);
    await client.query(`PREPARE asked AS ${statement.text}`);
    const literals = values.map((value) => pg.escapeLiteral(textOf(value)));
    const given = literals.length === 0 ? "" : `(${literals.join(", ")})`;
    const explained = `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE asked${given}`;
    const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(explained);
    const [answer] = rows;
    if (answer === undefined) throw new Error("EXPLAIN answered nothing.");
    const root = answer["QUERY PLAN"][0].Plan;
    const nodes = [...nodesOf(root)];
    return {
      pages: root["Shared Hit Blocks"] + root["Shared Read Blocks"],
      misses: nodes.reduce((sum, node) => sum + (node["Rows Removed by Join Filter"] ?? 0) * node["Actual Loops"], 0),
      filtered: nodes.reduce((sum, node) => sum + (node["Rows Removed by Filter"] ?? 0) * node["Actual Loops"], 0),
      scanned: nodes.flatMap((node) => (node["Node Type"] === "Seq Scan" ? [node["Relation Name"] ?? ""] : [])),
    };
  } finally {
    await client.query("ROLLBACK");
    await client.query("DEALLOCATE ALL");
  }
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}

/** Returns a value as text for SQL. Each text in an array is in quotes, because an empty text needs them. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? `{${value.map((item) => JSON.stringify(item)).join(",")}}` : String(value);
}
