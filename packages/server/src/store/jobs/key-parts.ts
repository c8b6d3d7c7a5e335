/*
 * Rows are asked for by their keys in parts of a few organizations. A statement has to name its organizations in an array, since that names the
 * shard; what else it does with the keys says how large a part may be.
 */

export interface PartSize {
  readonly organizations: number;
  readonly keys: number;
}

/**
 * For statements that name their rows by two arrays, `organization_id = ANY($1) AND job_id = ANY($2)`. That means every pair of the two: for 400 jobs of
 * 400 organizations these are 160,000 look-ups, or a scan of the whole table, which the planner then prefers. A batch of few organizations stays one statement.
 */
export const everyPair: PartSize = { organizations: 8, keys: Number.MAX_SAFE_INTEGER };

/**
 * For statements that join such rows with what is given for each of them. The planner takes the rows for few and compares every one with every
 * one: 400 with 400 took 31 ms, in parts of 32 it takes 3. Outside of a commit, parts of ten organizations and fewer are planned anew each time, since a plan for any values
 * counts with ten; PostgreSQL 15 makes a look-up for each pair, so many more would cost it more than planning.
 */
export const everyPairJoined: PartSize = { organizations: 12, keys: 32 };

/**
 * For statements that look up each key by itself, in a lateral subquery that names the organization twice: in the array and by the key. That subquery ends
 * in OFFSET 0, or the planner would make a join of it and read all rows of the organizations. It counts the organization twice in its estimate, so this is for tables whose other
 * indexes cannot pass for as good: `workflow_version` was read by a wrong one.
 */
export const eachAlone: PartSize = { organizations: 32, keys: Number.MAX_SAFE_INTEGER };

interface OfOrganization {
  readonly organizationId: string;
}

/** Asks for one part after the other, in the order of the organizations. */
export async function askInParts<Key extends OfOrganization, Row>(
  keys: readonly Key[],
  ask: (part: readonly Key[]) => Promise<readonly Row[]>,
  size = everyPair,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const part of partsOf(keys, size)) rows.push(...(await ask(part)));
  return rows;
}

/**
 * Asks in parts without waiting for one part's answer before the next goes out. For a transaction alone, which has one connection and answers in
 * order; elsewhere the parts would take every connection of their lane.
 */
export async function askTogether<Key extends OfOrganization, Row>(
  keys: readonly Key[],
  ask: (part: readonly Key[]) => Promise<readonly Row[]>,
  size: PartSize,
): Promise<Row[]> {
  return (await Promise.all(partsOf(keys, size).map(ask))).flat();
}

/** The parts of which each is one statement of `askInParts`. */
export function partsOf<Key extends OfOrganization>(keys: readonly Key[], size = everyPair): Key[][] {
  const byOrganization = [...Map.groupBy(keys, (key) => key.organizationId)].sort(([a], [b]) => (a < b ? -1 : 1));
  const parts: Key[][] = [];
  for (let first = 0; first < byOrganization.length; first += size.organizations) {
    const part = byOrganization.slice(first, first + size.organizations).flatMap(([, ofOne]) => ofOne);
    for (let key = 0; key < part.length; key += size.keys) parts.push(part.slice(key, key + size.keys));
  }
  return parts;
}

/** The array of the organizations, and those of the organization and the id of each key: each key once. */
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
