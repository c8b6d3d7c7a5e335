import type { Definition } from "@stepwell/testing/processes/api.ts";
import { definitionOf } from "@stepwell/testing/processes/workflow.ts";
import { pathOf } from "./branches.ts";

/**
 * A workflow of a campaign. It is simple enough to predict the path of every job: its steps come one after the other, and some of them have branches.
 */
export interface WorkflowShape {
  readonly name: string;
  readonly steps: Line;
}

/** The steps of the main line or of a branch. */
export type Line = readonly StepShape[];

export type StepShape = { readonly name: string } & (
  | { readonly kind: "noop" }
  | { readonly kind: "wait"; readonly eventIds: readonly string[] }
  | { readonly kind: "delay"; readonly seconds: number }
  | Outside
  | Child
  | Fork
);

/** A step that a function (`call`) or a worker (`task`) carries out. */
export interface Outside {
  readonly kind: "call" | "task";
  /** How the step ends. With `item`, the item of the forEach around it decides. */
  readonly luck: Luck | "item";
}

/**
 * - `unlucky`: its first attempt fails, and the next one succeeds.
 * - `doomed`: it fails for good. The job goes on after the fork around the step. Without such a fork, the job fails.
 * - `resumed`: its first attempt fails and is not retried, so the job fails. A client or the parent job can then resume the job, and the next attempt
 *   succeeds. Only tasks have this luck.
 */
export type Luck = "sound" | "unlucky" | "doomed" | "resumed";

/** A step that begins a job of another workflow, and waits for its end. */
export interface Child {
  readonly kind: "child";
  readonly workflow: WorkflowShape;
  /** The step retries a failed child by itself, so clients need not resume the job that has the step. */
  readonly retries?: true;
}

export type Fork = Branches | Items;

export interface Branches {
  readonly kind: "branches";
  readonly branches: Readonly<Record<string, Line>>;
  readonly until?: "any";
}

export interface Items {
  readonly kind: "items";
  readonly items: readonly Luck[];
  readonly concurrency: number;
  readonly collects?: true;
  readonly body: Line;
}

export const linearShapes: readonly WorkflowShape[] = [
  { name: "three-noops", steps: [noop("first"), noop("second"), noop("third")] },
  { name: "wait-for-1", steps: [wait("wait", "go"), noop("after")] },
  { name: "wait-for-3", steps: [noop("before"), wait("wait", ...eventIds("part", 3)), noop("after")] },
  { name: "wait-for-10", steps: [noop("before"), wait("wait", ...eventIds("part", 10))] },
  {
    // About half of the events for the second wait come before the job reaches it.
    name: "wait-twice",
    steps: [wait("wait", "go"), noop("between"), wait("wait-again", ...eventIds("part", 2)), noop("after")],
  },
];

/** Workflows whose jobs are begun only by steps of other workflows. No client knows their jobs, so these jobs get no events. */
const childWorkflows = {
  work: { name: "child-works", steps: [call("ask", "unlucky"), task("make", "sound"), noop("done")] },
  doomed: { name: "child-is-doomed", steps: [noop("begun"), task("break", "doomed")] },
  /** Its event is never sent, so the job ends when its parent no longer waits for it. */
  waiting: { name: "child-waits", steps: [call("ask", "sound"), wait("wait", "never")] },
  resumed: { name: "child-is-resumed", steps: [task("break", "resumed"), call("ask", "sound")] },
} satisfies Record<string, WorkflowShape>;

const childWithChildren: WorkflowShape = {
  name: "child-has-children",
  steps: [
    items("each", { items: ["sound", "unlucky"], concurrency: 2 }, [
      call("ask", "item"),
      child("begin", childWorkflows.work),
    ]),
    noop("done"),
  ],
};

export const forkedShapes: readonly WorkflowShape[] = [
  { name: "outside", steps: [task("make", "sound"), call("ask", "unlucky"), wait("wait", "go"), noop("after")] },
  {
    name: "branches",
    steps: [
      branches("split", {
        calls: [call("ask", "unlucky"), noop("asked")],
        tasks: [task("make", "unlucky"), noop("made")],
        waits: [wait("wait", ...eventIds("part", 2)), noop("told")],
      }),
      noop("after"),
    ],
  },
  {
    name: "race",
    steps: [
      branches(
        "split",
        { event: [wait("wait", "go"), noop("told")], worker: [delay("pause", 1), task("make", "sound")] },
        "any",
      ),
      noop("after"),
    ],
  },
  {
    // The failure leads the job to the next step and ends the other branches, even a branch whose task a worker is doing.
    name: "one-branch-fails",
    steps: [
      branches("split", {
        fails: [call("ask", "sound"), task("break", "doomed")],
        waits: [wait("wait", "go")],
        works: [task("make", "sound"), noop("made")],
      }),
      noop("after"),
    ],
  },
  {
    name: "items",
    steps: [
      items("each", { items: ["sound", "unlucky", "sound", "sound", "sound"], concurrency: 2 }, [
        task("make", "item"),
        noop("made"),
      ]),
      noop("after"),
    ],
  },
  {
    name: "items-collected",
    steps: [
      items("each", { items: ["sound", "doomed", "unlucky", "doomed"], concurrency: 3, collects: true }, [
        call("ask", "sound"),
        task("make", "item"),
      ]),
      noop("after"),
    ],
  },
  {
    // Each item waits for an event of its own, which comes before the wait about half of the time.
    name: "items-approved",
    steps: [
      items("each", { items: ["sound", "sound", "unlucky"], concurrency: 2 }, [
        task("make", "item"),
        wait("approve", "ok"),
        noop("told"),
      ]),
      noop("after"),
    ],
  },
  {
    name: "items-resumed",
    steps: [
      items("each", { items: ["sound", "resumed", "sound", "sound"], concurrency: 3 }, [
        call("ask", "sound"),
        task("make", "item"),
        noop("made"),
      ]),
      noop("after"),
    ],
  },
  {
    name: "branches-resumed",
    steps: [
      branches("split", {
        fails: [task("break", "resumed"), noop("mended")],
        waits: [wait("wait", "go"), task("make", "sound")],
        works: [items("each", { items: ["sound", "sound"], concurrency: 1 }, [call("ask", "item")])],
      }),
      noop("after"),
    ],
  },
  {
    name: "nested",
    steps: [
      items("outer", { items: ["sound", "sound"], concurrency: 2 }, [
        branches("sides", {
          left: [items("inner", { items: ["sound", "unlucky"], concurrency: 2 }, [call("ask", "item"), noop("asked")])],
          right: [task("make", "sound"), wait("sign", "signed")],
        }),
        noop("both"),
      ]),
      noop("after"),
    ],
  },
  { name: "child", steps: [child("begin", childWorkflows.work), wait("wait", "go"), noop("after")] },
  { name: "child-resumed", steps: [child("begin", childWorkflows.resumed), noop("after")] },
  { name: "child-retried", steps: [{ ...child("begin", childWorkflows.resumed), retries: true }, noop("after")] },
  {
    // About half of the time, the event comes first, and the child is cancelled. Otherwise the child ends first, and the wait ends without its event.
    name: "child-races",
    steps: [
      branches(
        "split",
        { event: [wait("wait", "go"), noop("told")], child: [child("begin", childWorkflows.work)] },
        "any",
      ),
      noop("after"),
    ],
  },
  {
    name: "child-left",
    steps: [
      branches("split", { event: [wait("wait", "go")], child: [child("begin", childWorkflows.waiting)] }, "any"),
      noop("after"),
    ],
  },
  {
    name: "children-collected",
    steps: [
      items("each", { items: ["sound", "sound", "sound"], concurrency: 2, collects: true }, [
        task("make", "item"),
        child("begin", childWorkflows.doomed),
      ]),
      noop("after"),
    ],
  },
  {
    name: "children-of-children",
    steps: [
      branches("split", {
        deep: [child("begin", childWithChildren)],
        waits: [wait("wait", "go"), child("begin-late", childWorkflows.work)],
      }),
      noop("after"),
    ],
  },
];

/** Returns the workflows of the child jobs, and of their child jobs. The workflow of a child comes before the workflow of its parent. */
export function workflowsOfChildren(shapes: readonly WorkflowShape[]): WorkflowShape[] {
  const found = shapes
    .flatMap(({ steps }) => [...stepsWithin(steps)])
    .flatMap((step) => (step.kind === "child" ? [step.workflow] : []));
  const all = [...(found.length > 0 ? workflowsOfChildren(found) : []), ...found];
  return [...new Map(all.map((shape) => [shape.name, shape])).values()];
}

/** The steps of a line, and those of all branches below it. */
export function* stepsWithin(line: Line): Generator<StepShape> {
  for (const step of line) {
    yield step;
    if (isFork(step)) for (const [, inner] of branchesOf(step)) yield* stepsWithin(inner);
  }
}

export const taskQueue = "chaos";
export const functionName = "work";
/** The time for which a worker holds a task: the shortest that the service allows. */
export const taskLeaseMs = 1_000;

export function definitionOfShape({ name, steps }: WorkflowShape): Definition {
  const sketches = steps.flatMap((step) => (step.kind === "noop" || step.kind === "wait" ? [step] : []));
  if (sketches.length === steps.length) {
    return definitionOf(name, sketches, { nonce: { type: "string" }, count: { type: "integer" } });
  }
  return { workflowName: name, steps: [...stepsOf(steps)], definitions: { anything: {} } };
}

/** An event that a job needs. An event for one of several items also names its wait and the branch of the item. */
export interface EventTarget {
  readonly eventId: string;
  readonly step?: string;
  readonly branch?: string;
}

export function eventsOf({ steps }: WorkflowShape): EventTarget[] {
  return [...eventsIn(steps, "", false)];
}

/** The names of a step's branches, or the places of its items, each with the steps of the branch. */
export function branchesOf(fork: Fork): [key: string, line: Line][] {
  if (fork.kind === "branches") return Object.entries(fork.branches);
  return fork.items.map((_, index) => [String(index), fork.body]);
}

export function isFork(step: StepShape): step is StepShape & Fork {
  return step.kind === "branches" || step.kind === "items";
}

/** Tells whether the step can fail for good. `item` is the luck of the item in whose branch the step is. */
export function canFail(step: StepShape, item: Luck): boolean {
  return canFailBy(["doomed", "resumed"], step, item);
}

/** Tells whether the failure of this step leads the job to the next step. */
export function leadsOn(step: StepShape): boolean {
  return isFork(step) && canFailBy(["doomed"], step, "sound");
}

function canFailBy(lucks: readonly Luck[], step: StepShape, item: Luck): boolean {
  const fails = (line: Line, luck: Luck) => line.some((inner) => canFailBy(lucks, inner, luck));
  switch (step.kind) {
    case "call":
    case "task":
      return lucks.includes(step.luck === "item" ? item : step.luck);
    case "child":
      return step.retries !== true && fails(step.workflow.steps, "sound");
    case "branches": {
      const failing = Object.values(step.branches).map((line) => fails(line, item));
      return step.until === "any" ? failing.every(Boolean) : failing.some(Boolean);
    }
    case "items":
      return step.collects !== true && step.items.some((luck) => fails(step.body, luck));
    default:
      return false;
  }
}

/** An event for one of several items is sent to the branch of the item. Every other event needs no branch, since only one wait has its id. */
function* eventsIn(line: Line, branch: string, isAddressed: boolean): Generator<EventTarget> {
  for (const step of line) {
    if (step.kind === "wait") {
      for (const eventId of step.eventIds) yield isAddressed ? { eventId, step: step.name, branch } : { eventId };
    }
    if (!isFork(step)) continue;
    for (const [key, inner] of branchesOf(step)) {
      yield* eventsIn(inner, pathOf(branch, step.name, key), isAddressed || step.kind === "items");
    }
  }
}

function* stepsOf(line: Line): Generator<object> {
  for (const [index, step] of line.entries()) {
    const next = line[index + 1]?.name ?? null;
    const anything = { $ref: "#/definitions/anything" };
    yield {
      name: step.name,
      integrationDetails: { ...workOf(step), inputDefinition: anything, outputDefinition: anything },
      ...((step.kind === "call" || step.kind === "task") && {
        input: { luck: step.luck === "item" ? itemPlace : step.luck },
        retry,
      }),
      ...(step.kind === "child" && { input: {}, ...(step.retries && { retry }) }),
      ...(leadsOn(step) && { onFailure: next }),
      transitionToStep: next,
    };
    if (step.kind === "branches") for (const inner of Object.values(step.branches)) yield* stepsOf(inner);
    if (step.kind === "items") yield* stepsOf(step.body);
  }
}

const itemPlace = "${ item }";

/** The retries are quick, so that a job comes to its end while the campaign goes on. */
const retry = { maxAttempts: 3, initialIntervalSeconds: 0.1, backoffRate: 1, jitter: false };

function workOf(step: StepShape): { readonly type: string; readonly config?: object } {
  switch (step.kind) {
    case "noop":
      return { type: "/service/noop" };
    case "wait":
      return { type: "/service/waitForEventIds", config: { eventIds: step.eventIds } };
    case "delay":
      return { type: "/service/delay", config: { seconds: step.seconds } };
    case "call":
      return {
        type: "/service/cloud/function",
        config: { region: "eu-west-1", accountId: "123456789012", functionName },
      };
    case "task":
      return { type: "/service/task", config: { queue: taskQueue, heartbeatSeconds: taskLeaseMs / 1_000 } };
    case "child":
      return { type: "/service/job", config: { workflow: step.workflow.name } };
    case "branches": {
      const firstOf = ([key, [first]]: [string, Line]) => [key, first?.name];
      const branches = Object.fromEntries(Object.entries(step.branches).map(firstOf));
      return { type: "/service/parallel", config: { branches, ...(step.until && { until: step.until }) } };
    }
    case "items": {
      const { items, concurrency, body, collects } = step;
      const config = { items, step: body[0]?.name, concurrency, ...(collects && { onItemFailure: "collect" }) };
      return { type: "/service/forEach", config };
    }
  }
}

function noop(name: string): StepShape {
  return { name, kind: "noop" };
}

function wait(name: string, ...eventIds: readonly string[]): StepShape {
  return { name, kind: "wait", eventIds };
}

function delay(name: string, seconds: number): StepShape {
  return { name, kind: "delay", seconds };
}

function call(name: string, luck: Outside["luck"]): StepShape {
  return { name, kind: "call", luck };
}

function task(name: string, luck: Outside["luck"]): StepShape {
  return { name, kind: "task", luck };
}

function child(name: string, workflow: WorkflowShape): StepShape & Child {
  return { name, kind: "child", workflow };
}

function branches(name: string, lines: Readonly<Record<string, Line>>, until?: "any"): StepShape {
  return { name, kind: "branches", branches: lines, ...(until && { until }) };
}

function items(name: string, config: Pick<Items, "items" | "concurrency" | "collects">, body: Line): StepShape {
  return { name, kind: "items", ...config, body };
}

function eventIds(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
}
