/*
 * Builds and splits paths of branches as the service writes them, without using the service's own code. Each level of a path has the fork, its visit,
 * and the name of the branch or the place of its item. The names of a campaign's steps need no encoding, and the visit is always 1, because visits
 * are counted within a branch, and no branch enters a fork twice.
 */

export const mainLine = "";

export function pathOf(parent: string, fork: string, key: string): string {
  return `${parent === mainLine ? "" : `${parent}/`}${fork}:1[${key}]`;
}

/** Splits the path of a branch into three parts: the path of the branch that contains the fork, the fork, and the name or place of this branch. */
export function levelOf(path: string): { readonly parent: string; readonly fork: string; readonly key: string } {
  const at = path.lastIndexOf("/");
  const [, fork = "", key = ""] = /^(.+):1\[(.+)\]$/.exec(path.slice(at + 1)) ?? [];
  return { parent: path.slice(0, Math.max(0, at)), fork, key };
}

/** Tells whether the branch belongs to the fork, or lies inside a branch that does. */
export function isUnder(path: string, parent: string, fork: string): boolean {
  return path.startsWith(pathOf(parent, fork, "").slice(0, -1));
}
