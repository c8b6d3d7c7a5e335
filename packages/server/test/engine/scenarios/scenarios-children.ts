import type { JsonObject } from "../../../src/core/json/json.ts";
import { call, childJob, forEach, noop, parallel, type StepSketch, transform } from "../../core/job/jobs.ts";
import type { Answers, Workflows } from "../interleaving/family.ts";

/** One scenario of a tree of jobs: its workflows, the results of its calls, the actions on the root, and the jobs at the end. */
export interface FamilyScenario {
  /** The workflows, beginning with that of the root. */
  readonly workflows: Workflows;
  readonly input?: JsonObject;
  readonly answers?: Answers;
  /** How often a child is rejected because its organization has reached its submit rate limit. */
  readonly fullMinutes?: number;
  /** The actions. Each is carried out when nothing more happens by itself. */
  readonly acts?: readonly FamilyAct[];
  /** The jobs at the end: the workflow, the status, and the output or the error's code and type. */
  readonly jobs: readonly (readonly [workflow: string, status: string, outcome?: unknown])[];
}

/** An action on the root, on the job of a workflow, or on a workflow: the workflow gets another version, or is deleted. */
export type FamilyAct =
  | "cancel"
  | "resume"
  | { readonly workflow: string; readonly act: "cancel" | "resume" }
  | { readonly deploys: string; readonly steps: readonly StepSketch[] }
  | { readonly deletes: string };

const never = { "leaf.work": ["never"] } as const;
const leaf = [call("work", null)];
const failsOnce: Answers = { "leaf.work": [{ fails: "OutOfStock" }, { n: 7 }] };
const retry = { maxAttempts: 3, initialIntervalSeconds: 1, jitter: false };

export const familyScenarios: Readonly<Record<string, FamilyScenario>> = {
  "jobs three levels deep give their outputs upwards": {
    workflows: {
      root: [childJob("begin", "middle", "end"), transform("end", { got: "${ steps.begin.output.n }" }, null)],
      middle: [childJob("begin", "low", null)],
      low: [childJob("begin", "leaf", "more"), transform("more", { n: "${ steps.begin.output.n + 1 }" }, null)],
      leaf,
    },
    answers: { "leaf.work": [{ n: 41 }] },
    jobs: [
      ["root", "SUCCEEDED", { got: 42 }],
      ["middle", "SUCCEEDED", { n: 42 }],
      ["low", "SUCCEEDED", { n: 42 }],
      ["leaf", "SUCCEEDED", { n: 41 }],
    ],
  },
  "a child receives the input of its step, and can end without a call": {
    workflows: {
      root: [childJob("begin", "leaf", null, { mapping: { input: { n: "${ input.n * 2 }" } } })],
      leaf: [noop("only", null)],
    },
    input: { n: 4 },
    jobs: [
      ["root", "SUCCEEDED", { n: 8 }],
      ["leaf", "SUCCEEDED", { n: 8 }],
    ],
  },
  "the failure of a child leads to the step for its error": {
    workflows: {
      root: [
        childJob("begin", "leaf", null, { onFailure: [{ on: ["OutOfStock"], then: "tell" }] }),
        transform("tell", { code: "${ error.code }", type: "${ error.type }" }, null),
      ],
      leaf,
    },
    answers: failsOnce,
    jobs: [
      ["root", "SUCCEEDED", { code: "ChildFailed", type: "OutOfStock" }],
      ["leaf", "FAILED", "ExecutorError OutOfStock"],
    ],
  },
  "an unhandled failure of a child fails every job above it": {
    workflows: { root: [childJob("begin", "middle", null)], middle: [childJob("begin", "leaf", null)], leaf },
    answers: failsOnce,
    jobs: [
      ["root", "FAILED", "ChildFailed OutOfStock"],
      ["middle", "FAILED", "ChildFailed OutOfStock"],
      ["leaf", "FAILED", "ExecutorError OutOfStock"],
    ],
  },
  "a resume of the root resumes what failed, and makes no other job": {
    workflows: { root: [childJob("begin", "middle", null)], middle: [childJob("begin", "leaf", null)], leaf },
    answers: failsOnce,
    acts: ["resume"],
    jobs: [
      ["root", "SUCCEEDED", { n: 7 }],
      ["middle", "SUCCEEDED", { n: 7 }],
      ["leaf", "SUCCEEDED", { n: 7 }],
    ],
  },
  "a step that is tried again resumes its child": {
    workflows: { root: [childJob("begin", "leaf", null, { retry })], leaf },
    answers: failsOnce,
    jobs: [
      ["root", "SUCCEEDED", { n: 7 }],
      ["leaf", "SUCCEEDED", { n: 7 }],
    ],
  },
  "a cancel goes down to all that the job waits for": {
    workflows: {
      root: [
        parallel("split", { deep: "below", flat: "beside" }, null),
        childJob("below", "middle", null),
        childJob("beside", "leaf", null),
      ],
      middle: [childJob("begin", "leaf", null)],
      leaf,
    },
    answers: never,
    acts: ["cancel"],
    jobs: [
      ["root", "CANCELLED"],
      ["middle", "CANCELLED"],
      ["leaf", "CANCELLED"],
      ["leaf", "CANCELLED"],
    ],
  },
  "a resume after a cancel goes on in every job below": {
    workflows: { root: [childJob("begin", "middle", null)], middle: [childJob("begin", "leaf", null)], leaf },
    answers: { "leaf.work": ["never", { n: 3 }] },
    acts: ["cancel", "resume"],
    jobs: [
      ["root", "SUCCEEDED", { n: 3 }],
      ["middle", "SUCCEEDED", { n: 3 }],
      ["leaf", "SUCCEEDED", { n: 3 }],
    ],
  },
  "a race cancels the child that lost": {
    workflows: {
      root: [
        parallel("race", { quick: "a", slow: "b" }, null, { until: "any" }),
        childJob("a", "quick", null),
        childJob("b", "leaf", null),
      ],
      quick: [call("work", null)],
      leaf,
    },
    answers: { ...never, "quick.work": [{ n: 1 }] },
    jobs: [
      ["root", "SUCCEEDED", { branch: "quick", output: { n: 1 } }],
      ["quick", "SUCCEEDED", { n: 1 }],
      ["leaf", "CANCELLED"],
    ],
  },
  "a forEach begins a job for each item and gives their outputs in its order": {
    workflows: {
      root: [
        forEach("each", { items: [1, 2, 3], step: "begin", concurrency: 2 }, null),
        childJob("begin", "leaf", null, { mapping: { input: { n: "${ item }" } } }),
      ],
      leaf: [transform("twice", { n: "${ input.n * 2 }" }, null)],
    },
    jobs: [
      ["root", "SUCCEEDED", [{ n: 2 }, { n: 4 }, { n: 6 }]],
      ["leaf", "SUCCEEDED", { n: 2 }],
      ["leaf", "SUCCEEDED", { n: 4 }],
      ["leaf", "SUCCEEDED", { n: 6 }],
    ],
  },
  "a child for which no step waits goes on without its parent": {
    workflows: { root: [childJob("send", "leaf", "end", { wait: false }), call("end", null)], leaf },
    answers: { ...never, "root.end": ["never"] },
    acts: ["cancel"],
    jobs: [
      ["root", "CANCELLED"],
      ["leaf", "RUNNING"],
    ],
  },
  "a workflow that is not there fails the step, and not for good": {
    workflows: {
      root: [
        childJob("begin", "nowhere", null, { onFailure: "tell" }),
        transform("tell", { code: "${ error.code }" }, null),
      ],
    },
    jobs: [["root", "SUCCEEDED", { code: "ChildNotStarted" }]],
  },
  "an eleventh level is refused, and all jobs above it fail": {
    workflows: { root: [childJob("again", "root", null)] },
    jobs: [
      ...Array.from({ length: 10 }, () => ["root", "FAILED", "ChildFailed TooManyChildren"] as const),
      ["root", "FAILED", "TooManyChildren"] as const,
    ],
  },
  "a step whose time is up cancels its child, and a resume lets it go on": {
    workflows: {
      root: [childJob("begin", "middle", null, { timeoutSeconds: 30 })],
      middle: [childJob("begin", "leaf", null)],
      leaf,
    },
    answers: { "leaf.work": ["never", { n: 3 }] },
    acts: ["resume"],
    jobs: [
      ["root", "SUCCEEDED", { n: 3 }],
      ["middle", "SUCCEEDED", { n: 3 }],
      ["leaf", "SUCCEEDED", { n: 3 }],
    ],
  },
  "each attempt of a step has its whole time, and cancels the same child": {
    workflows: { root: [childJob("begin", "leaf", null, { retry, timeoutSeconds: 30 })], leaf },
    answers: never,
    jobs: [
      ["root", "FAILED", "Timeout"],
      ["leaf", "CANCELLED"],
    ],
  },
  "a job whose whole time is up cancels all below it": {
    workflows: {
      root: { steps: [childJob("begin", "middle", null)], timeoutSeconds: 30 },
      middle: [childJob("begin", "leaf", null)],
      leaf,
    },
    answers: never,
    jobs: [
      ["root", "FAILED", "Timeout JobTimeout"],
      ["middle", "CANCELLED"],
      ["leaf", "CANCELLED"],
    ],
  },
  "a child whose whole time is up fails the step that waits for it": {
    workflows: { root: [childJob("begin", "leaf", null)], leaf: { steps: leaf, timeoutSeconds: 30 } },
    answers: never,
    jobs: [
      ["root", "FAILED", "ChildFailed JobTimeout"],
      ["leaf", "FAILED", "Timeout JobTimeout"],
    ],
  },
  "a child that somebody cancelled fails its parent, and goes on when the parent is resumed": {
    workflows: { root: [childJob("begin", "middle", null)], middle: [childJob("begin", "leaf", null)], leaf },
    answers: { "leaf.work": ["never", { n: 3 }] },
    acts: [{ workflow: "middle", act: "cancel" }, "resume"],
    jobs: [
      ["root", "SUCCEEDED", { n: 3 }],
      ["middle", "SUCCEEDED", { n: 3 }],
      ["leaf", "SUCCEEDED", { n: 3 }],
    ],
  },
  "a child that somebody resumed ends by itself, and a resume of its parent takes its output": {
    workflows: { root: [childJob("begin", "leaf", null)], leaf },
    answers: failsOnce,
    acts: [{ workflow: "leaf", act: "resume" }, "resume"],
    jobs: [
      ["root", "SUCCEEDED", { n: 7 }],
      ["leaf", "SUCCEEDED", { n: 7 }],
    ],
  },
  "a child keeps its version when the tag moves between two attempts": {
    workflows: { root: [childJob("begin", "leaf", null)], leaf },
    answers: failsOnce,
    acts: [{ deploys: "leaf", steps: [transform("work", { n: 99 }, null)] }, "resume"],
    jobs: [
      ["root", "SUCCEEDED", { n: 7 }],
      ["leaf", "SUCCEEDED", { n: 7 }],
    ],
  },
  "if an attempt fails because its workflow is missing, the next attempt finds a workflow that is registered in between":
    {
      workflows: { root: [childJob("begin", "leaf", null)] },
      acts: [{ deploys: "leaf", steps: leaf }, "resume"],
      answers: { "leaf.work": [{ n: 1 }] },
      jobs: [
        ["root", "SUCCEEDED", { n: 1 }],
        ["leaf", "SUCCEEDED", { n: 1 }],
      ],
    },
  "a child goes on with its parent after its workflow was deleted": {
    workflows: { root: [childJob("begin", "leaf", null)], leaf },
    answers: failsOnce,
    acts: [{ deletes: "leaf" }, "resume"],
    jobs: [
      ["root", "SUCCEEDED", { n: 7 }],
      ["leaf", "SUCCEEDED", { n: 7 }],
    ],
  },
  "children wait for as many minutes as it takes until their organization may submit more jobs": {
    workflows: {
      root: [
        forEach("each", { items: [1, 2], step: "begin" }, null),
        childJob("begin", "leaf", null, { mapping: { input: { n: "${ item }" } } }),
      ],
      leaf: [noop("only", null)],
    },
    fullMinutes: 12,
    jobs: [
      ["root", "SUCCEEDED", [{ n: 1 }, { n: 2 }]],
      ["leaf", "SUCCEEDED", { n: 1 }],
      ["leaf", "SUCCEEDED", { n: 2 }],
    ],
  },
  "a step whose workflow was deleted before the job reached it begins no job": {
    workflows: { root: [call("first", "begin"), childJob("begin", "leaf", null)], leaf },
    answers: { "root.first": ["never", {}] },
    acts: [{ deletes: "leaf" }, "cancel", "resume"],
    jobs: [["root", "FAILED", "ChildNotStarted"]],
  },
};
