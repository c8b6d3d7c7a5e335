import type { Cursors } from "./job-state.ts";
import type { AnyCursor, AnyStand } from "./resume-point.ts";

/** Returns the cursors of a job by their branches, in the order in which the branches began. The caller may change the index. */
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

/** Keeps the index of this list for the next change, which takes it. */
export function keepIndex(cursors: Cursors<AnyStand>, index: Map<string, AnyCursor>): void {
  if (cursors.length > fewCursors) indexes.set(cursors, index);
}

/**
 * One commit may apply hundreds of facts to one job, and each would otherwise index a thousand cursors again. A change takes the index away, because
 * it changes it. If that change is dropped, the next one makes a new index.
 */
const indexes = new WeakMap<Cursors<AnyStand>, Map<string, AnyCursor>>();

/** Indexing this few cursors again takes no noticeable time. */
const fewCursors = 8;
