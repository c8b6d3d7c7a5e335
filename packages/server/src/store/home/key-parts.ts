import type { Database, Queryable } from "./database.ts";

/*
 * Divides keys into parts, so that each statement reads the rows of one part: the keys of a few organizations. The statement names these
 * organizations in an array, from which the shard is known. The way in which the statement uses the keys decides how large a part may be.
 */

export interface PartSize {
  readonly organizations: number;
  readonly keys: number;
}

/**
 * The part size for statements that name their rows by two arrays, `organization_id = ANY($1) AND job_id = ANY($2)`. PostgreSQL looks up every pair
 * of the two arrays. For 400 jobs of 400 organizations these are 160,000 look-ups, and the planner then prefers a scan of the whole table. So
 * a part has few organizations, but all of their keys.
 */
export const everyPair: PartSize = { organizations: 8, keys: Number.MAX_SAFE_INTEGER };

/**
 * The part size for statements that find rows by two arrays, and also join each row with values that are given for it. The planner underestimates the
 * number of rows and chooses a plan that compares each row with each value: 400 rows took 31 ms in one part and 3 ms in parts of 32.
 *
 * PostgreSQL's generic plan assumes ten organizations. If a part had ten or fewer, this plan would not seem cheaper than a plan for the values, and
 * outside of a commit PostgreSQL would plan the statement each time. In much larger parts, the look-ups would take longer than planning, because
 * PostgreSQL 15 looks up each pair.
 */
export const everyPairJoined: PartSize = { organizations: 12, keys: 32 };

/**
 * The part size for statements that look up each key separately, in a lateral subquery that compares the organization with the array and with the
 * key. The subquery ends in OFFSET 0; otherwise the planner would turn it into a join and read all rows of the organizations. In its
 * estimate, the planner counts the two comparisons as two conditions, so a wrong index may seem as good as the right one. That happened with
 * `workflow_version`. Use such statements only for tables for which the planner chooses the right index.
 */
export const eachAlone: PartSize = { organizations: 32, keys: Number.MAX_SAFE_INTEGER };

interface OfOrganization {
  readonly organizationId: string;
}

/**
 * The database or transaction that runs the statements. A transaction does not tell groups apart, because all of its organizations are in one group.
 */
export type Grouped = Queryable & Partial<Pick<Database, "groupOf">>;

/**
 * Runs one part after the other, in the order of the organizations. Pass `db` when the organizations may be of several groups. Then one group
 * comes after the other, and no part has organizations of more than one group.
 */
export async function askInParts<Key extends OfOrganization, Row>(
  keys: readonly Key[],
  ask: (part: readonly Key[]) => Promise<readonly Row[]>,
  size = everyPair,
  db?: Grouped,
): Promise<Row[]> {
  const rows: Row[] = [];
  const groups = Map.groupBy(keys, ({ organizationId }) => db?.groupOf?.(organizationId)).values();
  for (const part of [...groups].flatMap((group) => partsOf(group, size))) rows.push(...(await ask(part)));
  return rows;
}

/**
 * Sends all parts at once, and then waits for the answers. Use it only in a transaction, which has one connection and answers in order. Elsewhere the
 * parts would take every connection of their lane.
 */
export async function askTogether<Key extends OfOrganization, Row>(
  keys: readonly Key[],
  ask: (part: readonly Key[]) => Promise<readonly Row[]>,
  size: PartSize,
): Promise<Row[]> {
  return (await Promise.all(partsOf(keys, size).map(ask))).flat();
}

export function partsOf<Key extends OfOrganization>(keys: readonly Key[], size = everyPair): Key[][] {
  const byOrganization = [...Map.groupBy(keys, (key) => key.organizationId)].sort(([a], [b]) => (a < b ? -1 : 1));
  const parts: Key[][] = [];
  for (let first = 0; first < byOrganization.length; first += size.organizations) {
    const part = byOrganization.slice(first, first + size.organizations).flatMap(([, ofOne]) => ofOne);
    for (let key = 0; key < part.length; key += size.keys) parts.push(part.slice(key, key + size.keys));
  }
  return parts;
}

/** Returns three arrays: every organization once; for each different key, its organization; and in the same order, the key's id. */
export function keyColumns<Key extends OfOrganization>(
  keys: readonly Key[],
  idOf: (key: Key) => string,
): [string[], string[], string[]] {
  const distinct = [...new Map(keys.map((key) => [`${key.organizationId} ${idOf(key)}`, key])).values()];
  return [organizationsOf(distinct), distinct.map(({ organizationId }) => organizationId), distinct.map(idOf)];
}

export function organizationsOf(keys: readonly OfOrganization[]): string[] {
  return [...new Set(keys.map(({ organizationId }) => organizationId))];
}
