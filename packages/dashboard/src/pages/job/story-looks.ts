import { isOneLine, levelOf, parentOf, pathsTo } from "../../graph/branch-path.ts";
import { lookOfMany, type StepLook } from "../../graph/step-look.ts";
import type { JobStory } from "./job-story.ts";
import type { StepRun } from "./step-run.ts";

/**
 * Returns the look of each step of a job, by its name: at its latest visit, and in all branches that have reached it. If a `branch` is selected, the
 * branches beside it are not counted.
 */
export function looksOf({ runs, progress }: JobStory, branch?: string): ReadonlyMap<string, StepLook> {
  const latestVisits = new Map<string, number>();
  const latest = new Map<string, Map<string, StepRun>>();
  for (const run of runs) {
    if (run.fork !== undefined) latestVisits.set(`${run.branch}\n${run.name}`, run.visit);
    const inBranches = latest.get(run.name) ?? new Map<string, StepRun>();
    latest.set(run.name, inBranches.set(run.branch, run));
  }
  const isCurrent = (path: string) =>
    pathsTo(path).every((one) => {
      const level = levelOf(one);
      return (
        level === undefined || (latestVisits.get(`${parentOf(one)}\n${level.fork}`) ?? level.visit) === level.visit
      );
    });
  const isMeant =
    branch === undefined
      ? isCurrent
      : (path: string) => isOneLine(path, branch) || (!isBeside(path, branch) && isCurrent(path));
  const lookOf = ({ key, status, visit, attempts }: StepRun): StepLook => {
    const own = progress.get(key);
    return { status, visit, attempts, ...(own !== undefined && { progress: own }) };
  };
  const looks = new Map<string, StepLook>();
  for (const [name, inBranches] of latest) {
    const shown = [...inBranches.values()].filter((run) => isMeant(run.branch)).map(lookOf);
    const [only] = shown;
    if (only !== undefined) looks.set(name, shown.length === 1 ? only : lookOfMany(shown));
  }
  return looks;
}

/** Tells whether two paths lead into different branches of one step. */
function isBeside(path: string, branch: string): boolean {
  const [own, others] = [pathsTo(branch), pathsTo(path)];
  const parting = own.findIndex((one, index) => one !== others[index]);
  return levelOf(own[parting] ?? "")?.fork === levelOf(others[parting] ?? "")?.fork;
}
