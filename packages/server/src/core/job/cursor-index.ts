import type { Cursors } from "./job-state.ts";
import type { AnyCursor, AnyStand } from "./resume-point.ts";

/** The cursors of a job by their branches, in the order in which the branches began. Whoever takes the index may change it. */
export function takeIndex(cursors: Cursors<AnyStand>): Map<string, AnyCursor> {
  const known = indexes.get(cursors);
  if (known !== undefined) {
    indexes.delete(cursors);
    return known;
  }
  const index = new Map<string, AnyCursor>();
  for (const cursor of cursors) index.set(cursor.branch, cursor);
  return index;
}

/** Keeps the index of this list for the change that comes next, which takes it. */
export function keepIndex(cursors: Cursors<AnyStand>, index: Map<string, AnyCursor>): void {
  if (cursors.length > fewCursors) indexes.set(cursors, index);
}

/**
 * A commit may apply hundreds of facts to one job, and each would index a thousand cursors anew. A change takes the index away, since it changes it:
 * where that change is dropped, the next one makes an index of its own.
 */
const indexes = new WeakMap<Cursors<AnyStand>, Map<string, AnyCursor>>();

/** So few cursors are indexed anew in no time. */
const fewCursors = 8;
