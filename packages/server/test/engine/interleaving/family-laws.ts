import { expect } from "vitest";
import { mainBranch } from "../../../src/core/branch-path.ts";
import { type PlainEntry, StepFolder } from "../../../src/core/job/history.ts";
import { isTerminal } from "../../../src/core/job/job-state.ts";
import type { ShownValue } from "../../../src/core/json/json-text.ts";
import { someone } from "../../core/job/jobs.ts";
import type { SeenFamily, SeenJob } from "./family.ts";
import { waits } from "./random-families.ts";

/** Checks a tree of jobs, in which nothing more happens by itself, against the rules that hold for any tree. */
export function expectLawful(seen: SeenFamily): void {
  const children = childrenByPlace(seen);
  expectCounted(seen);
  expect(seen.noticeCount).toBe(0);
  for (const job of seen.jobs) {
    expect(job.entries.map(({ sequence }) => sequence)).toEqual(job.entries.map((_, index) => index + 1));
    expect(job.entries.filter(({ type }) => type === "job.submitted")).toHaveLength(1);
    for (const run of runsOf(job)) expectHeard(job, run, children);
    expectAwaited(job, seen);
  }
}

type Run = StepFolder<ShownValue>["runs"][number];

/** Returns the children by the visit that began them, and checks that no visit has begun two. */
function childrenByPlace({ jobs }: SeenFamily): ReadonlyMap<string, SeenJob> {
  const children = new Map<string, SeenJob>();
  for (const child of jobs) {
    const { parent } = child.job;
    if (parent === null) continue;
    const place = placeOf(parent.jobId, parent);
    expect(children.has(place), `two children at ${place}`).toBe(false);
    children.set(place, child);
  }
  return children;
}

function expectCounted({ jobs, childIds, trees }: SeenFamily): void {
  const made = jobs.filter(({ job }) => job.parent !== null);
  expect(made.map(({ key }) => key.jobId).toSorted()).toEqual(childIds);
  const byRoot = Map.groupBy(made, ({ job }) => job.parent?.rootJobId ?? "");
  const counts = [...byRoot].map(([jobId, ofRoot]) => ({ jobId, count: ofRoot.length }));
  expect(trees.map(({ jobId, count }) => ({ jobId, count: Number(count) }))).toEqual(counts);
}

/** Checks that a successful run has the child's output, or the child's id if the run does not wait, and that no end of the child counts twice. */
function expectHeard({ key, entries }: SeenJob, run: Run, children: ReadonlyMap<string, SeenJob>): void {
  const isAwaited = waits(run.name);
  if (!(isAwaited || run.name.startsWith("send"))) return;
  const child = children.get(placeOf(key.jobId, { ...run, step: run.name }));
  const own = entries.filter((entry) => isOf(run, entry));
  expect(own.filter(({ type }) => type === "step.succeeded").length).toBeLessThanOrEqual(1);
  if (run.status === "success") {
    if (!isAwaited) {
      expect(run.output).toEqual({ jobId: child?.key.jobId });
      return;
    }
    expect(child?.job.state.status).toBe("SUCCEEDED");
    expect(JSON.stringify(run.output)).toBe(JSON.stringify(child && outputOf(child)));
  }
  const failures = own.filter((entry) => "error" in entry && entry.error.code === "ChildFailed");
  const ends = child?.entries.filter(({ type }) => type === "job.failed" || type === "job.cancelled") ?? [];
  expect(failures.length).toBeLessThanOrEqual(ends.length);
}

/**
 * Checks that a job waits for a child if and only if the child is under way and knows that it is awaited. A child for which its parent no longer
 * waits runs only if somebody resumed it.
 */
function expectAwaited({ key, job, calls, entries }: SeenJob, { jobs }: SeenFamily): void {
  for (const { childJobId, nodeId, epoch } of calls) {
    // The function of this call never answers.
    if (childJobId === null) {
      expect(nodeId).not.toBeNull();
      continue;
    }
    const child = jobs.find((one) => one.key.jobId === childJobId)?.job.state;
    expect(child !== undefined && "progress" in child && !isTerminal(child.status) && child.progress.awaitedBy).toBe(
      epoch,
    );
  }
  const { parent, state } = job;
  if (parent === null || isTerminal(state.status) || !("progress" in state) || !waits(parent.step)) return;
  const calledBy = jobs.find((one) => one.key.jobId === parent.jobId)?.calls;
  const call = calledBy?.find(({ childJobId }) => childJobId === key.jobId);
  expect(call?.epoch).toBe(state.progress.awaitedBy);
  if (call !== undefined) return;
  const resumed = entries.findLast((entry) => entry.type === "job.resumed");
  expect(resumed).toMatchObject({ by: someone });
}

function runsOf({ entries }: SeenJob): readonly Run[] {
  const folder = new StepFolder<ShownValue>();
  for (const entry of entries) folder.add(entry);
  return folder.runs;
}

function outputOf(job: SeenJob): ShownValue | undefined {
  return runsOf(job).findLast(({ branch, status }) => branch === undefined && status === "success")?.output;
}

function isOf({ name, branch, visit }: Run, entry: PlainEntry): boolean {
  return "step" in entry && entry.step === name && entry.visit === visit && entry.branch === branch;
}

interface Place {
  readonly branch?: string;
  readonly step: string;
  readonly visit: number;
}

function placeOf(jobId: string, { branch = mainBranch, step, visit }: Place): string {
  return `${jobId} ${branch} ${step}:${visit}`;
}
