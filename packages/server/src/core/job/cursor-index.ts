import type { Cursors } from "./job-state.ts";
import type { AnyCursor, AnyStand } from "./resume-point.ts";

/** Returns a job's cursors by their branches, in the order in which the branches began. The caller owns the returned index and may change it. */
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

/** Keeps the index of this list until the next change takes it. The index of a short list is not kept. */
export function keepIndex(cursors: Cursors<AnyStand>, index: Map<string, AnyCursor>): void {
  if (cursors.length > fewCursors) indexes.set(cursors, index);
}

/**
 * One commit may apply hundreds of facts to one job. Without this cache, each fact would index a thousand cursors again. A change takes the index out
 * of the cache, because it modifies the index. If that change is dropped, the next one makes a new index.
 */
const indexes = new WeakMap<Cursors<AnyStand>, Map<string, AnyCursor>>();

/** Indexing this few cursors again takes no noticeable time. */
const fewCursors = 8;
