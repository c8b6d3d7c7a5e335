import { startsOf } from "../step-work.ts";
import { targetsOf } from "../transition.ts";
import type { Edge, GraphStep, StepGraph } from "./step-graph.ts";

/** A line of steps: the main line, or one branch of a fork. Every step of a valid definition is in exactly one region. */
export interface Region {
  /** The index of the fork; undefined for the main line. */
  readonly fork: number | undefined;
  /** The name of the branch; undefined for the main line and for the body of a forEach. */
  readonly branch: string | undefined;
  /** The region in which the fork is; undefined for the main line. */
  readonly around: Region | undefined;
  /** The number of forks around its steps. */
  readonly depth: number;
  /** The index of its first step. */
  readonly first: number;
}

/** A branch that begins at a step of another region. */
export interface TakenStart {
  readonly fork: number;
  readonly branch: string | undefined;
  readonly first: number;
}

export interface Regions {
  /** The region of each step; undefined for a step that cannot be reached. */
  readonly of: readonly (Region | undefined)[];
  /** All regions. The main line is first, and each region comes after the region around it. */
  readonly all: readonly Region[];
  readonly takenStarts: readonly TakenStart[];
}

/**
 * Divides the steps of a definition into regions. A region has the steps that can be reached from its first step without entering the branches of a
 * fork.
 */
export function regionsOf(steps: readonly Pick<GraphStep, "name" | "work">[], graph: StepGraph): Regions {
  const of: (Region | undefined)[] = steps.map(() => undefined);
  const indexes = new Map(steps.map(({ name }, index) => [name, index]));
  const found: Region[] = [{ fork: undefined, branch: undefined, around: undefined, depth: 0, first: 0 }];
  const all: Region[] = [];
  const takenStarts: TakenStart[] = [];
  // The loop also visits regions that it adds to the list.
  for (const region of found) {
    const { fork, branch, first } = region;
    if (fork !== undefined && of[first] !== undefined) {
      takenStarts.push({ fork, branch, first });
      continue;
    }
    all.push(region);
    for (const own of claim(region, of, graph)) {
      for (const { name, step } of startsOf(steps[own]?.work)) {
        const start = indexes.get(step);
        if (start === undefined) continue;
        found.push({ fork: own, branch: name, around: region, depth: region.depth + 1, first: start });
      }
    }
  }
  return { of, all, takenStarts };
}

/** Writes the region into `of` for each of its steps, and returns these steps. Leaves out steps that are in another region already. */
function claim(region: Region, of: (Region | undefined)[], { outgoing, stepCount }: StepGraph): Iterable<number> {
  const own = new Set(region.first < stepCount && of[region.first] === undefined ? [region.first] : []);
  for (const step of own) {
    of[step] = region;
    for (const edge of outgoing[step] ?? []) {
      if (edge.kind !== "fork" && of[edge.to] === undefined) own.add(edge.to);
    }
  }
  return own;
}

/** Finds the transitions that lead out of a region. A branch must end with null, and only its fork may lead into it. */
export function crossings({ of }: Regions, { outgoing }: StepGraph): readonly Edge[] {
  return outgoing
    .flat()
    .filter(({ from, to, kind }) => kind !== "fork" && of[from] !== undefined && of[from] !== of[to]);
}

/** For each fork, by its index, and each of its branches, by the branch's name: the steps that end the branch. The body of a forEach has no name. */
export function branchEnds(
  steps: readonly Pick<GraphStep, "transitionToStep">[],
  { of }: Regions,
): ReadonlyMap<number, ReadonlyMap<string | undefined, readonly number[]>> {
  const ends = new Map<number, Map<string | undefined, number[]>>();
  for (const [index, { transitionToStep }] of steps.entries()) {
    const region = of[index];
    if (region?.fork === undefined || !targetsOf(transitionToStep).includes(null)) continue;
    const branches = ends.get(region.fork) ?? new Map<string | undefined, number[]>();
    branches.set(region.branch, [...(branches.get(region.branch) ?? []), index]);
    ends.set(region.fork, branches);
  }
  return ends;
}

/** The largest number of branches that a job can have open at once. Branches of nested forks count too. */
export function openBranchCount(steps: readonly Pick<GraphStep, "work">[], { of, all }: Regions): number {
  const inner = new Map<Region, number>();
  // The innermost regions come first. A job is in only one step of a region at a time, so only the fork with the most open branches counts.
  for (const region of all.toReversed()) {
    const forks = [...of.entries()].filter(([, other]) => other === region).map(([index]) => index);
    inner.set(region, Math.max(0, ...forks.map((fork) => openIn(fork, steps[fork]?.work, all, inner))));
  }
  const [main] = all;
  return main === undefined ? 0 : (inner.get(main) ?? 0);
}

function openIn(
  fork: number,
  work: GraphStep["work"],
  all: readonly Region[],
  inner: ReadonlyMap<Region, number>,
): number {
  if (work?.kind !== "fork") return 0;
  const branches = all.filter((region) => region.fork === fork).map((region) => 1 + (inner.get(region) ?? 0));
  const sum = branches.reduce((total, count) => total + count, 0);
  return work.rule.kind === "items" ? work.rule.concurrency * sum : sum;
}
