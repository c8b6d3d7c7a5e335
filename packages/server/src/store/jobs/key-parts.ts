/**
 * Asks for rows by their keys, a few organizations at a time, in the order of the organizations. A statement that names its rows by two arrays,
 * `organization_id = ANY($1) AND job_id = ANY($2)`, means every pair of the two: for 400 jobs of 400 organizations these are 160,000 look-ups, or a scan of
 * the whole table, which the planner then prefers. A join with the pairs (`unnest($1, $2)`) beside the arrays changes none of that, and
 * the arrays must stay, since they name the shard.
 */
export async function askInParts<Key extends { readonly organizationId: string }, Row>(
  keys: readonly Key[],
  ask: (part: readonly Key[]) => Promise<readonly Row[]>,
  keysAtOnce?: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const part of partsOf(keys, keysAtOnce)) rows.push(...(await ask(part)));
  return rows;
}

/**
 * Asks in parts as `askInParts` does, without waiting for one part's answer before the next goes out. For a transaction alone, which has one connection and
 * answers in order; elsewhere the parts would take every connection of their lane.
 */
export async function askTogether<Key extends { readonly organizationId: string }, Row>(
  keys: readonly Key[],
  ask: (part: readonly Key[]) => Promise<readonly Row[]>,
  keysAtOnce?: number,
): Promise<Row[]> {
  return (await Promise.all(partsOf(keys, keysAtOnce).map(ask))).flat();
}

/** The parts of which each is one statement of `askInParts`. */
export function partsOf<Key extends { readonly organizationId: string }>(
  keys: readonly Key[],
  keysAtOnce = keys.length,
): Key[][] {
  const byOrganization = [...Map.groupBy(keys, (key) => key.organizationId)].sort(([a], [b]) => (a < b ? -1 : 1));
  const parts: Key[][] = [];
  for (let first = 0; first < byOrganization.length; first += organizationsAtOnce) {
    const part = byOrganization.slice(first, first + organizationsAtOnce).flatMap(([, ofOne]) => ofOne);
    for (let key = 0; key < part.length; key += keysAtOnce) parts.push(part.slice(key, key + keysAtOnce));
  }
  return parts;
}

/** A batch of few organizations stays one statement; at most so many times as many look-ups as rows are made. */
const organizationsAtOnce = 8;

/**
 * For statements that join the rows with what is given for each of them. The planner takes the rows for few and compares every one with every
 * one: 400 with 400 took 31 ms, in parts of 32 it takes 3.
 */
export const joinedKeysAtOnce = 32;
