import { type Definition, registerWorkflow } from "@stepwell/testing/processes/api.ts";
import type { StoreHomes, StoreKind } from "@stepwell/testing/processes/store-home.ts";
import { rounded } from "../samples.ts";
import { startTarget, type Target } from "../target/target.ts";

export interface ChildrenSize {
  /** The number of jobs below the submitted job. */
  readonly jobs: number;
  /** The largest number of children that one job has under way at the same time. */
  readonly concurrency: number;
}

export interface ChildrenResult extends ChildrenSize {
  readonly bench: "children";
  readonly store: StoreKind;
  readonly levels: number;
  /** The time from the submission of the root until the success of the root and of all jobs below it. */
  readonly seconds: number;
  readonly jobsPerSecond: number;
}

const levels = 10;
const waitSeconds = 30;

/** Measures a tree of jobs with ten levels. Each job ends when its children have ended. */
export async function runChildrenBench(
  homes: StoreHomes,
  size: ChildrenSize,
  progress: (line: string) => void,
): Promise<ChildrenResult> {
  const home = await homes.fresh();
  const target = await startTarget(home);
  await growTree(target, "warm", { ...size, jobs: Math.min(size.jobs, warmUpJobs) });
  const seconds = await growTree(target, "tree", size);
  progress(`children: ${size.jobs} jobs in ${rounded(seconds)} s`);
  await target.service.stop();
  await home.discard();
  const jobsPerSecond = Math.round(size.jobs / seconds);
  return { bench: "children", store: homes.kind, ...size, levels, seconds: rounded(seconds), jobsPerSecond };
}

const warmUpJobs = 1_000;

/** Submits the root of a tree, and returns how many seconds the whole tree took. */
async function growTree({ api, organizationId }: Target, name: string, size: ChildrenSize): Promise<number> {
  const definitions = treeOf(name, size);
  let rootId = "";
  for (const definition of definitions) rootId = await registerWorkflow(api, organizationId, definition);
  const jobs = `/organizations/${organizationId}/jobs`;
  const begunAt = performance.now();
  const { jobId } = await api.post<{ jobId: string }>(jobs, { workflowId: rootId });
  for (;;) {
    const { status } = await api.get<{ status: string }>(`${jobs}/${jobId}?waitSeconds=${waitSeconds}`);
    if (status === "SUCCEEDED") return (performance.now() - begunAt) / 1000;
    if (status === "FAILED" || status === "CANCELLED") throw new Error(`The root of the tree is ${status}.`);
  }
}

/** Returns the workflows of a tree, from the leaves to the root. The tree has exactly this many jobs below its root. */
function treeOf(name: string, { jobs, concurrency }: ChildrenSize): Definition[] {
  const [first, second] = jobs >= 2_000 ? [10, 10] : [1, 1];
  // The jobs that are neither root nor leaf are on levels 1 to 9. Level 1 has `first` jobs, and each deeper one has `first * second`.
  const innerCount = first + (levels - 2) * first * second;
  const leavesEach = Math.floor((jobs - innerCount) / (first * second));
  const rest = jobs - innerCount - leavesEach * first * second;
  const widths = [first, second, ...Array.from({ length: levels - 3 }, () => 1), leavesEach];
  const inner = widths.map((width, level) =>
    definitionOf(`${name}-${level}`, [
      ...fork("each", `${name}-${level + 1}`, width, concurrency, level === 0 && rest > 0 ? "rest" : null),
      ...(level === 0 && rest > 0 ? fork("rest", `${name}-${levels}`, rest, concurrency, null) : []),
    ]),
  );
  const leaf = definitionOf(`${name}-${levels}`, [step("only", "/service/noop", undefined, null)]);
  return [leaf, ...inner.toReversed()];
}

function fork(name: string, workflow: string, width: number, concurrency: number, next: string | null): object[] {
  const items = Array.from({ length: width }, (_, index) => index);
  const begin = `${name}-begin`;
  return [
    step(name, "/service/forEach", { items, step: begin, concurrency, output: "counts" }, next),
    { ...step(begin, "/service/job", { workflow }, null), input: {} },
  ];
}

function step(name: string, type: string, config: object | undefined, transitionToStep: string | null): object {
  const anything = { $ref: "#/definitions/anything" };
  const details = {
    type,
    ...(config !== undefined && { config }),
    inputDefinition: anything,
    outputDefinition: anything,
  };
  return { name, integrationDetails: details, transitionToStep };
}

function definitionOf(workflowName: string, steps: readonly object[]): Definition {
  return { workflowName, steps, definitions: { anything: {} } };
}
