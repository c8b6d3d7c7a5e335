import { levelOf, pathsTo } from "../../graph/branch-path.ts";
import { texts } from "../../texts/texts.ts";
import { forkOf, type JobStory } from "./job-story.ts";

/** Describes a branch, the outermost level first: "item 4,211 of 10,000, branch price". Empty for the main line. */
export function branchWords(story: Pick<JobStory, "forks">, path: string): string {
  return pathsTo(path)
    .map((one) => levelWords(story, one))
    .join(", ");
}

/** Describes the innermost level of a branch. */
function levelWords(story: Pick<JobStory, "forks">, path: string): string {
  const level = levelOf(path);
  if (level === undefined) return path;
  const fork = forkOf(story, path)?.fork;
  const { branch, inVisit, itemOf } = texts.job;
  const words = fork?.hasItems ? itemOf(Number(level.key), fork.branchCount) : branch(level.key);
  return level.visit > 1 ? inVisit(words, level.visit) : words;
}

/** Describes a run: "check", "check (visit 2)", "check (item 4,211 of 10,000, visit 2)". */
export function runWords(
  story: Pick<JobStory, "forks">,
  { name, branch, visit }: { readonly name: string; readonly branch: string; readonly visit: number },
): string {
  const parts = [branchWords(story, branch), visit > 1 && texts.job.visitWord(visit)].filter(Boolean);
  return parts.length === 0 ? name : texts.job.ofRun(name, parts.join(", "));
}
