/**
 * Asks for rows by their keys, a few organizations at a time, in the order of the organizations. A statement that names its rows by two arrays,
 * `organization_id = ANY($1) AND job_id = ANY($2)`, means every pair of the two: for 400 jobs of 400 organizations these are 160,000 look-ups, or a scan of
 * the whole table, which the planner then prefers. A join with the pairs (`unnest($1, $2)`) beside the arrays changes none of that, and
 * the arrays must stay, since they name the shard.
 */
export async function askInParts<Key extends { readonly organizationId: string }, Row>(
  keys: readonly Key[],
  ask: (part: readonly Key[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const part of partsOf(keys)) rows.push(...(await ask(part)));
  return rows;
}

/** The parts of which each is one statement of `askInParts`. */
export function partsOf<Key extends { readonly organizationId: string }>(keys: readonly Key[]): Key[][] {
  const byOrganization = [...Map.groupBy(keys, (key) => key.organizationId)].sort(([a], [b]) => (a < b ? -1 : 1));
  const parts: Key[][] = [];
  for (let first = 0; first < byOrganization.length; first += organizationsAtOnce) {
    parts.push(byOrganization.slice(first, first + organizationsAtOnce).flatMap(([, ofOne]) => ofOne));
  }
  return parts;
}

/** A batch of few organizations stays one statement; at most so many times as many look-ups as rows are made. */
const organizationsAtOnce = 8;
