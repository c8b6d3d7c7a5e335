import { levelOf } from "./branch-path.ts";
import type { GraphBranch, GraphStep } from "./graph-step.ts";
import type { StepStatus } from "./step-look.ts";

/** One visit of a step by a job. */
export interface WayRun extends Pick<GraphStep, "name" | "type"> {
  readonly status: StepStatus;
  /** The path of the branch that contains the visit; left out for the main line. */
  readonly branch?: string | undefined;
  /** True if the step has branches, and these are the items of a list. */
  readonly hasItems?: boolean | undefined;
}

/** Makes steps from the way that a job took, for people who may see the job but not its definition. */
export function stepsOfWay(runs: readonly WayRun[]): readonly GraphStep[] {
  const lines = [...Map.groupBy(runs, ({ branch = "" }) => branch)];
  const left = new Map(lines.flatMap(([, line]) => line.map((run, index) => [run, line[index + 1]?.name] as const)));
  const branches = branchesOf(lines, new Set(runs.filter(({ hasItems }) => hasItems).map(({ name }) => name)));
  return [...Map.groupBy(runs, ({ name }) => name)].map(([name, visits]) => {
    const targets = (ways: readonly WayRun[]) => [...new Set(ways.flatMap((run) => left.get(run) ?? []))];
    const own = branches.get(name);
    return {
      name,
      type: visits[0]?.type ?? "",
      next: targets(visits.filter(({ status }) => status !== "failed")).map((step) => ({ step })),
      onFailure: targets(visits.filter(({ status }) => status === "failed")).map((step) => ({ step, on: [] })),
      ...(own !== undefined && { branches: [...own.values()] }),
    };
  });
}

/**
 * Returns the branches that have begun, by the name of the step that has them, and then by their own name. All items of a list are one branch with
 * an empty name.
 */
function branchesOf(
  lines: readonly (readonly [string, readonly WayRun[]])[],
  loops: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlyMap<string, GraphBranch>> {
  const found = new Map<string, Map<string, GraphBranch>>();
  for (const [path, [first]] of lines) {
    const level = levelOf(path);
    if (level === undefined || first === undefined) continue;
    const own = found.get(level.fork) ?? new Map<string, GraphBranch>();
    found.set(level.fork, own);
    const name = loops.has(level.fork) ? undefined : level.key;
    if (!own.has(name ?? "")) own.set(name ?? "", { name, step: first.name });
  }
  return found;
}
