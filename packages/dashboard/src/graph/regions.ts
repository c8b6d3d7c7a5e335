import type { GraphBranch, GraphStep } from "./graph-step.ts";

/** The main line or a branch: the steps in it, in the order of the definition. */
export interface Region {
  readonly steps: readonly GraphStep[];
  /** The name of the step where the region begins, even if the definition has no such step; undefined if the definition has no steps. */
  readonly first: string | undefined;
  /** The branches of its steps, by the name of the step. */
  readonly lanes: ReadonlyMap<string, readonly Lane[]>;
}

/** A branch of a parallel step, or the body of a forEach step. */
export interface Lane extends GraphBranch {
  /** The step that has the branch. */
  readonly fork: string;
  readonly region: Region;
}

/**
 * Divides the steps among the main line and the branches. A step that can be reached from two of them is drawn in the first one. A step that nothing
 * leads to is drawn on the main line.
 */
export function regionOf(steps: readonly GraphStep[]): Region {
  const [first] = steps;
  const byName = new Map(steps.map((step) => [step.name, step]));
  const free = new Set(byName.keys());
  const main = first === undefined ? [] : claim(first.name, byName, free);
  const inBranches = new Map<GraphBranch, readonly string[]>();
  // The list grows during the search, by the steps of branches and by the steps that nothing leads to.
  const found = [...main];
  let seenCount = 0;
  const findBranches = () => {
    for (; seenCount < found.length; seenCount += 1) {
      for (const branch of byName.get(found[seenCount] ?? "")?.branches ?? []) {
        const claimed = claim(branch.step, byName, free);
        inBranches.set(branch, claimed);
        found.push(...claimed);
      }
    }
  };
  findBranches();
  for (const name of [...free]) {
    if (!free.delete(name)) continue;
    main.push(name);
    found.push(name);
    findBranches();
  }
  const region = (names: readonly string[], begin: string | undefined): Region => {
    const within = new Set(names);
    const own = steps.filter(({ name }) => within.has(name));
    const lanes = own.flatMap(({ name: fork, branches = [] }) => {
      const drawn = branches.map((branch) => ({
        ...branch,
        fork,
        region: region(inBranches.get(branch) ?? [], branch.step),
      }));
      return drawn.length === 0 ? [] : [[fork, drawn] as const];
    });
    return { steps: own, first: begin, lanes: new Map(lanes) };
  };
  return region(main, first?.name);
}

/** Returns the innermost branch of each step that is in a branch. */
export function lanesByStep(region: Region): ReadonlyMap<string, Lane> {
  const found = new Map<string, Lane>();
  const walk = (lane: Lane) => {
    for (const { name } of lane.region.steps) found.set(name, lane);
    for (const inner of [...lane.region.lanes.values()].flat()) walk(inner);
  };
  for (const lane of [...region.lanes.values()].flat()) walk(lane);
  return found;
}

/** Takes this step and the steps that its transitions reach, directly or through other steps. Leaves out each step that is taken already. */
function claim(first: string, byName: ReadonlyMap<string, GraphStep>, free: Set<string>): string[] {
  const claimed: string[] = [];
  const take = (name: string) => {
    if (free.delete(name)) claimed.push(name);
  };
  take(first);
  for (const name of claimed) {
    const step = byName.get(name);
    for (const way of step?.next ?? []) if (way.step !== null) take(way.step);
    for (const way of step?.onFailure ?? []) take(way.step);
  }
  return claimed;
}
