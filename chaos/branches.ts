/*
 * The path of a branch as the service writes it, found without the service's own code: the fork, its visit and the branch's name or the place of its item, on
 * each level. Names of the campaign's steps need no encoding, and it enters each fork once.
 */

export const mainLine = "";

export function pathOf(parent: string, fork: string, key: string): string {
  return `${parent === mainLine ? "" : `${parent}/`}${fork}:1[${key}]`;
}

/** Reads the path of a branch: the branch in which its fork stands, its fork, and its own name or place. */
export function levelOf(path: string): { readonly parent: string; readonly fork: string; readonly key: string } {
  const at = path.lastIndexOf("/");
  const [, fork = "", key = ""] = /^(.+):1\[(.+)\]$/.exec(path.slice(at + 1)) ?? [];
  return { parent: path.slice(0, Math.max(0, at)), fork, key };
}

/** Tells whether the branch is one of the fork, or inside of one. */
export function isUnder(path: string, parent: string, fork: string): boolean {
  return path.startsWith(pathOf(parent, fork, "").slice(0, -1));
}
