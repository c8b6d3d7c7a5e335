import { quoted } from "./problem.ts";

/** "; did you mean `approve`?", or nothing when no candidate is near. For the end of a sentence about an unknown name. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const closest = closestName(name, candidates);
  return closest === undefined ? "" : `; did you mean ${quoted(closest)}?`;
}

/** The candidate with the fewest typing mistakes between it and `name`; undefined when all are too far to be meant. */
export function closestName(name: string, candidates: Iterable<string>): string | undefined {
  let closest: string | undefined;
  let closestDistance = maxDistance(name) + 1;
  let compared = 0;
  for (const candidate of candidates) {
    if (++compared > maxCandidates) break;
    if (candidate === name) continue;
    if (candidate.toLowerCase() === name.toLowerCase()) return candidate;
    const distance = typingDistance(name, candidate, closestDistance - 1);
    if (distance >= closestDistance) continue;
    closest = candidate;
    closestDistance = distance;
  }
  return closest;
}

/** A hint must cost less than the check that it decorates. */
const maxCandidates = 500;
const maxNameLength = 64;

/** A third of a name may be mistyped, and three characters at most; a name of one or two characters has no near ones. */
function maxDistance(name: string): number {
  return Math.min(3, Math.floor(name.length / 3));
}

/**
 * Damerau's distance (insert, delete, replace, swap neighbours), or `limit + 1` as soon as it must be larger. Only the
 * diagonal band that can stay within the limit is computed.
 */
function typingDistance(a: string, b: string, limit: number): number {
  const tooFar = limit + 1;
  if (Math.abs(a.length - b.length) > limit || Math.max(a.length, b.length) > maxNameLength) return tooFar;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current: number[] = new Array(b.length + 1).fill(tooFar);
    current[0] = row;
    let nearest = row;
    for (let column = Math.max(1, row - limit); column <= Math.min(b.length, row + limit); column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const distance = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (isSame ? 0 : 1),
        isSwap ? at(beforePrevious, column - 2) + 1 : tooFar,
      );
      current[column] = distance;
      nearest = Math.min(nearest, distance);
    }
    if (nearest > limit) return tooFar;
    beforePrevious = previous;
    previous = current;
  }
  return Math.min(at(previous, b.length), tooFar);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
