import { levelOf, parentOf } from "../branch-path.ts";
import type { Job } from "../job/job-state.ts";
import { quoted } from "../problem.ts";

/** Describes a branch with its path: "item 4,211 of 10,000 (`each-order:1[4211]`)". Items are counted from 0, as for `index` in expressions. */
export function branchText({ state }: Job, path: string): string {
  const level = levelOf(path);
  const fork = state.status === "RUNNING" ? state.cursors.find(({ branch }) => branch === parentOf(path)) : undefined;
  if (level === undefined || fork?.stand.phase !== "forked") return quoted(path);
  const { items, branchCount } = fork.stand;
  const place = Number(level.key).toLocaleString("en");
  const words =
    items === undefined ? `branch ${quoted(level.key)}` : `item ${place} of ${branchCount.toLocaleString("en")}`;
  return `${words} (${quoted(path)})`;
}
