/**
 * One level of the path of a branch: the step that has the branch, its visit, and the branch's name or the place of its item. The path
 * `fan-out:2[4211]/sides:1[left]` has two levels. The main line has the empty path.
 */
export interface BranchLevel {
  readonly fork: string;
  readonly visit: number;
  readonly key: string;
}

/** The innermost level; undefined for the main line. */
export function levelOf(path: string): BranchLevel | undefined {
  const found = /^([^:[\]]+):(\d+)\[([^:[\]]+)\]$/.exec(path.slice(path.lastIndexOf("/") + 1));
  const [, fork, visit, key] = found ?? [];
  if (fork === undefined || key === undefined) return undefined;
  return { fork: decodeURIComponent(fork), visit: Number(visit), key: decodeURIComponent(key) };
}

/** Returns the path of the branch around this one: the branch that contains the step to which this branch belongs. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Returns the branch and those around it, the outermost first. The list is empty for the main line. */
export function pathsTo(path: string): readonly string[] {
  const parts = path === "" ? [] : path.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** Tells whether two branches are the same, or one contains the other. */
export function isOneLine(one: string, other: string): boolean {
  return one === other || isAround(one, other) || isAround(other, one);
}

function isAround(outer: string, inner: string): boolean {
  return outer === "" || inner.startsWith(`${outer}/`);
}
