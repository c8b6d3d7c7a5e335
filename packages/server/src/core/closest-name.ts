/** Makes the end of a sentence about an unknown name, such as "; did you mean `approve`?". Empty when no candidate is near. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const closest = closestName(name, candidates);
  return closest === undefined ? "" : `; did you mean \`${closest}\`?`;
}

/** The candidate with the fewest typing mistakes compared to `name`; undefined when every candidate has too many. */
export function closestName(name: string, candidates: Iterable<string>): string | undefined {
  let closest: string | undefined;
  let limit = maxDistance(name);
  let compared = 0;
  for (const candidate of candidates) {
    if (++compared > maxCandidates) break;
    if (candidate === name || candidate.length > maxNameLength) continue;
    if (candidate.toLowerCase() === name.toLowerCase()) return candidate;
    const distance = typingDistance(name, candidate, limit);
    if (distance > limit) continue;
    closest = candidate;
    // From here on, only a candidate with a smaller distance is better.
    limit = distance - 1;
  }
  return closest;
}

/** The hint must not cost more than the check to which it belongs, and must not be longer than a line. */
const maxCandidates = 500;
const maxNameLength = 64;

/**
 * Up to a third of a name may be mistyped, and at most three characters. For a name of one or two characters, only a candidate that has the same
 * letters, small or capital, is near.
 */
function maxDistance(name: string): number {
  return Math.min(3, Math.floor(name.length / 3));
}

/**
 * Damerau's distance: the number of characters to insert, delete, replace or swap with their neighbour. A result over `limit` only means that the
 * distance is larger than `limit`. The common beginning and end of the two names are skipped first. Usually they make up most of each name.
 */
function typingDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return distanceInBand(a.slice(start, a.length - end), b.slice(start, b.length - end), limit);
}

/**
 * Computes the matrix of distances between the beginnings of both names, row by row. Only the band around the diagonal is computed, because values
 * outside it exceed the limit.
 */
function distanceInBand(a: string, b: string, limit: number): number {
  const tooFar = limit + 1;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current: number[] = [row];
    let nearest = row;
    for (let column = Math.max(1, row - limit); column <= Math.min(b.length, row + limit); column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        (previous[column] ?? tooFar) + 1,
        (current[column - 1] ?? tooFar) + 1,
        (previous[column - 1] ?? tooFar) + (isSame ? 0 : 1),
        isSwap ? (beforePrevious[column - 2] ?? tooFar) + 1 : tooFar,
      );
      nearest = Math.min(nearest, current[column] ?? tooFar);
    }
    if (nearest > limit) return tooFar;
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? tooFar;
}
