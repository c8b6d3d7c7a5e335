/*
 * The path of a branch has one level for each fork around it, as in `fan-out:2[4211]/sides:1[left]`. A level has the fork's name, the visit of the
 * fork, and the name of the branch or the position of its item. The path of the main line is empty.
 */

export const mainBranch = "";

export interface BranchLevel {
  readonly fork: string;
  readonly visit: number;
  /** The name of the branch, or the position of its item. */
  readonly key: string;
}

/** The path of a branch whose fork is in the branch `parent`. */
export function pathOf(parent: string, { fork, visit, key }: BranchLevel): string {
  return `${pathsOf(parent, fork, visit)}${encode(key)}]`;
}

/** The prefix that one visit of a fork gives to the paths of all its branches, and of all branches inside them. No other path has this prefix. */
export function pathsOf(parent: string, fork: string, visit: number): string {
  return `${parent === mainBranch ? "" : `${parent}/`}${encode(fork)}:${visit}[`;
}

/** The path of the branch in which this branch's fork is. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The path itself and the paths of the branches around it, innermost first. The main line comes last. */
export function* withAround(path: string): Iterable<string> {
  for (let rest = path; rest !== mainBranch; rest = parentOf(rest)) yield rest;
  yield mainBranch;
}

/** The last level of a path; undefined when the text does not end with a level, as for the main line. The levels before it are not checked. */
export function levelOf(path: string): BranchLevel | undefined {
  const found = /^([^:[\]]+):([1-9][0-9]{0,8})\[([^:[\]]+)\]$/.exec(path.slice(path.lastIndexOf("/") + 1));
  const [, fork, visit, key] = found ?? [];
  if (fork === undefined || visit === undefined || key === undefined) return undefined;
  const [forkName, keyName] = [decode(fork), decode(key)];
  if (forkName === undefined || keyName === undefined) return undefined;
  return { fork: forkName, visit: Number(visit), key: keyName };
}

/** The `branch` field of a record. A record of the main line has no such field. */
export function branchField(branch: string): { readonly branch?: string } {
  return branch === mainBranch ? {} : { branch };
}

/** Whether a branch is inside another, at any depth. */
export function isInside(path: string, around: string): boolean {
  return around === mainBranch ? path !== mainBranch : path.startsWith(`${around}/`);
}

/**
 * Compares two paths for sorting. Digits that stand together are compared as one number, and all other text as text. So items are in the order of
 * their positions.
 */
export function comparePaths(one: string, other: string): number {
  const [parts, others] = [partsOf(one), partsOf(other)];
  for (const [index, part] of parts.entries()) {
    const against = others[index];
    if (against === undefined) return 1;
    if (part === against) continue;
    const [number, otherNumber] = [Number(part), Number(against)];
    return Number.isNaN(number) || Number.isNaN(otherNumber) ? (part < against ? -1 : 1) : number - otherNumber;
  }
  return parts.length - others.length;
}

function partsOf(path: string): readonly string[] {
  return path.match(/\d+|\D+/g) ?? [];
}

function encode(name: string): string {
  return name.replaceAll(/[%:/[\]]/g, encodeURIComponent);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
