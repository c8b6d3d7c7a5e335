import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import type { Happening } from "../../core/interleaving/moves.ts";
import { call, delay, forEach, noop, parallel, type StepSketch, task, transform, wait } from "../../core/job/jobs.ts";

/** One scenario of a job: what happens to it, and what it must have done. */
export interface Scenario {
  readonly steps: readonly StepSketch[];
  readonly input?: JsonObject;
  readonly timeoutSeconds?: number;
  readonly hasNoRoom?: true;
  readonly happenings: readonly Happening[];
  /** The runs of the steps, in the order in which they began: the step, the status, the number of attempts, and the output or the error code. */
  readonly runs: readonly ExpectedRun[];
  readonly status: string;
  /** The error codes of the happenings that are rejected, in their order. Absent if none is rejected. */
  readonly refused?: readonly string[];
}

/** For the step of a branch, the path of the branch and a space come before the name. */
export type ExpectedRun = readonly [step: string, status: string, attempts: number, outcome?: JsonValue];

const ok = (output: JsonValue): Happening => ({ type: "succeeds", output });
const okIn = (branch: string, output: JsonValue): Happening => ({ type: "succeeds", output, branch });
const failsIn = (branch: string, kind: "ordinary" | "permanent" = "permanent"): Happening => ({
  type: "fails",
  kind,
  error: "Boom",
  branch,
});
const boom: Happening = { type: "fails", kind: "ordinary", error: "Boom" };
const outOfStock: Happening = { type: "fails", kind: "permanent", error: "OutOfStock" };
const attemptTimeout: Happening = { type: "fails", kind: "ordinary", error: "Timeout", code: "Timeout" };
const event = (eventId: string, payload?: JsonObject): Happening => ({
  type: "event",
  eventId,
  ...(payload !== undefined && { payload }),
});
const eventFor = (branch: string, step: string, eventId: string, payload: JsonObject): Happening => ({
  type: "event",
  eventId,
  payload,
  step,
  branch,
});
const workerLost = (branch: string): Happening => ({ type: "is lost", isNodeDead: true, branch });
/** An outcome of the second-newest call, which arrives late. */
const late = (output: JsonValue): Happening => ({ type: "succeeds late", age: 0, output });
const after = (seconds: number): Happening => ({ type: "time passes", ms: seconds * 1_000 });
const due = after(0);
const cancel: Happening = { type: "cancel" };
/** The job becomes PENDING again, and then a timer continues it. */
const resume: readonly Happening[] = [{ type: "resume" }, due];

/** The schemas that the steps name. */
export const scenarioSchemas: Record<string, JsonObject> = {
  total: { type: "object", properties: { total: { type: "number" } }, required: ["total"] },
  decision: { type: "object", properties: { approved: {} } },
};

const retry = { maxAttempts: 3, initialIntervalSeconds: 1, backoffRate: 2, jitter: false };
const sized = {
  choose: [
    { if: "output.total > 100", then: "big" },
    { if: "output.total > 10", then: "middle" },
  ],
  else: null,
};
const sizes = [call("a", null, { transitionToStep: sized }), noop("big", null), noop("middle", null)];
const polling = [
  call("poll", null, { transitionToStep: { choose: [{ if: "output.done", then: "end" }], else: "pause" } }),
  delay("pause", { seconds: 30 }, "poll"),
  transform("end", { last: "${ steps.poll.output }", paused: "${ has(steps.pause.output) }" }, null),
];
const caught = [
  call("a", null, { onFailure: [{ on: ["OutOfStock"], then: "reorder" }, { then: "tell" }] }),
  transform("reorder", { why: "${ error.type } in ${ error.step }" }, null),
  transform("tell", { why: "${ steps.a.error.type }" }, null),
];
const decide = [
  wait("first", ["x"], "second"),
  {
    ...wait("second", ["y", "z"], null, {
      match: "any",
      payloadDefinitions: { y: { $ref: "#/definitions/decision" } },
    }),
  },
  transform("tell", { by: "${ has(events.y.payload) ? events.y.payload.by : 'nobody' }" }, null),
].map((step) =>
  step.name === "second"
    ? {
        ...step,
        transitionToStep: { choose: [{ if: "has(output.approved) && output.approved", then: "tell" }], else: null },
      }
    : step,
);

export const scenarios: Readonly<Record<string, Scenario>> = {
  "a choice takes the first condition that holds": {
    steps: sizes,
    happenings: [ok({ total: 500 })],
    runs: [
      ["a", "success", 1, { total: 500 }],
      ["big", "success", 1, { total: 500 }],
    ],
    status: "SUCCEEDED",
  },
  "a choice with no condition that holds takes its else": {
    steps: sizes,
    happenings: [ok({ total: 5 })],
    runs: [["a", "success", 1, { total: 5 }]],
    status: "SUCCEEDED",
  },
  "a failed call is tried again as its policy says": {
    steps: [call("a", "b", { retry }), transform("b", { got: "${ steps.a.output.n }" }, null)],
    happenings: [boom, after(1), boom, after(2), ok({ n: 7 })],
    runs: [
      ["a", "success", 3, { n: 7 }],
      ["b", "success", 1, { got: 7 }],
    ],
    status: "SUCCEEDED",
  },
  "a failure with an error that the policy does not name is not tried again": {
    steps: [call("a", null, { retry: { ...retry, on: ["Throttled"] } })],
    happenings: [boom, after(10)],
    runs: [["a", "failure", 1, "ExecutorError"]],
    status: "FAILED",
  },
  "a failure leads to the step for its error": {
    steps: caught,
    happenings: [outOfStock],
    runs: [
      ["a", "failure", 1, "ExecutorError"],
      ["reorder", "success", 1, { why: "OutOfStock in a" }],
    ],
    status: "SUCCEEDED",
  },
  "a failure with any other error leads to the step of the last entry": {
    steps: caught,
    happenings: [boom],
    runs: [
      ["a", "failure", 1, "ExecutorError"],
      ["tell", "success", 1, { why: "Boom" }],
    ],
    status: "SUCCEEDED",
  },
  "a loop asks again after each pause, until it is done": {
    steps: polling,
    happenings: [ok({ done: false, n: 1 }), after(30), ok({ done: false, n: 2 }), after(30), ok({ done: true, n: 3 })],
    runs: [
      ["poll", "success", 1, { done: false, n: 1 }],
      ["pause", "success", 1, { done: false, n: 1 }],
      ["poll", "success", 1, { done: false, n: 2 }],
      ["pause", "success", 1, { done: false, n: 2 }],
      ["poll", "success", 1, { done: true, n: 3 }],
      ["end", "success", 1, { last: { done: true, n: 3 }, paused: true }],
    ],
    status: "SUCCEEDED",
  },
  "a loop can count with its step's earlier output": {
    steps: [
      transform(
        "count",
        { n: "${ has(steps.count.output) ? steps.count.output.n + 1 : 1 }" },
        {
          choose: [{ if: "output.n < 3", then: "count" }],
          else: null,
        },
      ),
    ],
    happenings: [],
    runs: [1, 2, 3].map((n) => ["count", "success", 1, { n }]),
    status: "SUCCEEDED",
  },
  "a wait that takes too long leads to the step for a timeout": {
    steps: [
      { ...wait("w", ["x"], null, { timeoutSeconds: 60 }), onFailure: [{ on: ["Timeout"], then: "late" }] },
      transform("late", { code: "${ error.code }" }, null),
    ],
    happenings: [after(59), after(1), event("x")],
    runs: [
      ["w", "failure", 1, "Timeout"],
      ["late", "success", 1, { code: "Timeout" }],
    ],
    status: "SUCCEEDED",
    refused: ["ConflictError"],
  },
  "a job that takes too long fails, whatever its call gives then": {
    steps: [call("a", null, { onFailure: "b" }), noop("b", null)],
    timeoutSeconds: 100,
    happenings: [after(100), ok({})],
    runs: [["a", "failure", 1, "Timeout"]],
    status: "FAILED",
  },
  "an early event brings its payload to the wait that it is for, and to expressions": {
    steps: decide,
    happenings: [event("y", { approved: true, by: "Ada" }), event("x"), due],
    runs: [
      ["first", "success", 1, {}],
      ["second", "success", 1, { approved: true }],
      ["tell", "success", 1, { by: "Ada" }],
    ],
    status: "SUCCEEDED",
  },
  "a wait for any of its events goes on with the first, and without what another would have brought": {
    steps: decide,
    happenings: [event("x"), event("z")],
    runs: [
      ["first", "success", 1, {}],
      ["second", "success", 1, {}],
    ],
    status: "SUCCEEDED",
  },
  "an event that comes for the second visit of a wait is the one that expressions read": {
    steps: [
      wait("w", ["x"], "t"),
      transform(
        "t",
        { by: "${ has(events.x.payload) ? events.x.payload.by : 'nobody' }" },
        {
          choose: [{ if: "output.by == 'nobody'", then: null }],
          else: "w",
        },
      ),
    ],
    happenings: [event("x", { by: "Ada" }), due, event("x"), due],
    runs: [
      ["w", "success", 1, {}],
      ["t", "success", 1, { by: "Ada" }],
      ["w", "success", 1, { by: "Ada" }],
      ["t", "success", 1, { by: "nobody" }],
    ],
    status: "SUCCEEDED",
  },

  "resume of a job that was cancelled in a call": {
    steps: [call("a", "b"), noop("b", null)],
    happenings: [cancel, ok({ n: 1 }), ...resume, ok({ n: 2 })],
    runs: [
      ["a", "success", 2, { n: 2 }],
      ["b", "success", 1, { n: 2 }],
    ],
    status: "SUCCEEDED",
  },
  "resume of a job that was cancelled between two attempts": {
    steps: [call("a", null, { retry })],
    happenings: [boom, cancel, after(10), ...resume, boom, after(1), boom, after(2), ok({ n: 4 })],
    runs: [["a", "success", 4, { n: 4 }]],
    status: "SUCCEEDED",
  },
  "resume of a job that was cancelled in a wait, which keeps the events that it had": {
    steps: [{ ...wait("w", ["x", "y"], null), output: "decision" }],
    happenings: [event("x", { approved: true }), cancel, ...resume, event("y")],
    runs: [["w", "success", 2, { approved: true }]],
    status: "SUCCEEDED",
  },
  "resume of a job that was cancelled in a sleep, whose end stays where it was": {
    steps: [delay("d", { seconds: 60 }, "a"), call("a", null)],
    happenings: [after(10), cancel, after(10), ...resume, after(39), ok({}), after(1), ok({ n: 1 })],
    runs: [
      ["d", "success", 2, {}],
      ["a", "success", 1, { n: 1 }],
    ],
    status: "SUCCEEDED",
  },
  "resume of a job that was cancelled on its way to a wait whose payload was to be read": {
    steps: decide,
    happenings: [event("y", { approved: true, by: "Ada" }), event("x"), cancel, ...resume],
    runs: [
      ["first", "success", 1, {}],
      ["second", "success", 1, { approved: true }],
      ["tell", "success", 1, { by: "Ada" }],
    ],
    status: "SUCCEEDED",
  },
  "resume of a job that was cancelled before it began": {
    steps: [call("a", null)],
    hasNoRoom: true,
    happenings: [cancel, ...resume, ok({ n: 1 })],
    runs: [["a", "success", 1, { n: 1 }]],
    status: "SUCCEEDED",
  },
  "resume of a job that was cancelled before its resume took effect": {
    steps: [call("a", null)],
    happenings: [cancel, { type: "resume" }, cancel, ...resume, ok({ n: 1 })],
    runs: [["a", "success", 2, { n: 1 }]],
    status: "SUCCEEDED",
  },
  "resume after an input that does not fit, which fails anew": {
    steps: [call("a", "b"), noop("b", null, { input: "total" })],
    happenings: [ok({}), ...resume],
    runs: [
      ["a", "success", 1, {}],
      ["b", "failure", 2, "InputMismatch"],
    ],
    status: "FAILED",
  },
  "resume after an output that does not fit": {
    steps: [call("a", null, { output: "total" })],
    happenings: [ok({}), ...resume, ok({ total: 1 })],
    runs: [["a", "success", 2, { total: 1 }]],
    status: "SUCCEEDED",
  },
  "resume after an expression in `input` failed, which is evaluated anew": {
    steps: [call("a", "b"), call("b", null, { mapping: { input: { n: "${ steps.a.output.n }" } } })],
    happenings: [ok({}), ...resume, ok({})],
    runs: [
      ["a", "success", 1, {}],
      ["b", "failure", 2, "ExpressionFailed"],
    ],
    status: "FAILED",
  },
  "resume after an expression in `output` failed": {
    steps: [call("a", null, { mapping: { output: { n: "${ result.n }" } } })],
    happenings: [ok({}), ...resume, ok({ n: 2 })],
    runs: [["a", "success", 2, { n: 2 }]],
    status: "SUCCEEDED",
  },
  "resume after a condition failed": {
    steps: sizes,
    happenings: [ok({}), ...resume, ok({ total: 50 })],
    runs: [
      ["a", "success", 2, { total: 50 }],
      ["middle", "success", 1, { total: 50 }],
    ],
    status: "SUCCEEDED",
  },
  "resume after the timeout of an attempt": {
    steps: [call("a", null)],
    happenings: [attemptTimeout, ...resume, ok({ n: 1 })],
    runs: [["a", "success", 2, { n: 1 }]],
    status: "SUCCEEDED",
  },
  "resume after the timeout of a wait, which has all its time again": {
    steps: [wait("w", ["x"], null, { timeoutSeconds: 60 })],
    happenings: [after(60), after(100), ...resume, after(59), event("x")],
    runs: [["w", "success", 2, {}]],
    status: "SUCCEEDED",
  },
  "resume after the timeout of the job, which has all its time again": {
    steps: [call("a", "w"), wait("w", ["x"], null)],
    timeoutSeconds: 100,
    happenings: [ok({ n: 1 }), after(100), after(50), ...resume, after(99), event("x")],
    runs: [
      ["a", "success", 1, { n: 1 }],
      ["w", "success", 2, { n: 1 }],
    ],
    status: "SUCCEEDED",
  },
  "resume after all attempts failed, which allows the same number of attempts again": {
    steps: [call("a", null, { retry: { ...retry, maxAttempts: 2 } })],
    happenings: [boom, after(1), boom, ...resume, boom, after(1), ok({ n: 4 })],
    runs: [["a", "success", 4, { n: 4 }]],
    status: "SUCCEEDED",
  },

  "a parallel step fails when one of its branches fails, and a resume calls again what failed or was cancelled": {
    steps: [
      parallel("split", { done: "a", left: "b", right: "c" }, "end"),
      call("a", null),
      call("b", null),
      call("c", null),
      noop("end", null),
    ],
    happenings: [
      okIn("split:1[done]", { n: 1 }),
      failsIn("split:1[left]"),
      okIn("split:1[right]", { late: true }),
      ...resume,
      okIn("split:1[right]", { n: 3 }),
      okIn("split:1[left]", { n: 2 }),
    ],
    runs: [
      ["split", "success", 2, { done: { n: 1 }, left: { n: 2 }, right: { n: 3 } }],
      ["split:1[done] a", "success", 1, { n: 1 }],
      ["split:1[left] b", "success", 2, { n: 2 }],
      ["split:1[right] c", "success", 2, { n: 3 }],
      ["end", "success", 1, { done: { n: 1 }, left: { n: 2 }, right: { n: 3 } }],
    ],
    status: "SUCCEEDED",
  },
  "a race of two branches goes on with the first, and drops what the other gives": {
    steps: [
      parallel("race", { left: "a", right: "b" }, "end", { until: "any" }),
      call("a", null),
      call("b", null),
      call("end", null),
    ],
    happenings: [okIn("race:1[right]", { n: 2 }), { type: "succeeds late", age: 0, output: {} }, ok({ n: 3 })],
    runs: [
      ["race", "success", 1, { branch: "right", output: { n: 2 } }],
      ["race:1[left] a", "failure", 1, "Cancelled"],
      ["race:1[right] b", "success", 1, { n: 2 }],
      ["end", "success", 1, { n: 3 }],
    ],
    status: "SUCCEEDED",
  },
  "a race whose first branch fails goes on with the other one": {
    steps: [parallel("race", { left: "a", right: "b" }, null, { until: "any" }), call("a", null), call("b", null)],
    happenings: [failsIn("race:1[left]"), okIn("race:1[right]", { n: 2 })],
    runs: [
      ["race", "success", 1, { branch: "right", output: { n: 2 } }],
      ["race:1[left] a", "failure", 1, "ExecutorError"],
      ["race:1[right] b", "success", 1, { n: 2 }],
    ],
    status: "SUCCEEDED",
  },
  "a race in which all branches fail leads to the step for its failure": {
    steps: [
      parallel("race", { left: "a", right: "b" }, null, { until: "any", onFailure: "tell" }),
      call("a", null),
      call("b", null),
      transform("tell", { code: "${ error.code }", cause: "${ error.cause.step }" }, null),
    ],
    happenings: [failsIn("race:1[right]"), failsIn("race:1[left]")],
    runs: [
      ["race", "failure", 1, "BranchFailed"],
      ["race:1[left] a", "failure", 1, "ExecutorError"],
      ["race:1[right] b", "failure", 1, "ExecutorError"],
      ["tell", "success", 1, { code: "BranchFailed", cause: "a" }],
    ],
    status: "SUCCEEDED",
  },
  "a forEach fails with the first item that fails, begins no other item, and a resume calls again only what has not succeeded":
    {
      steps: [
        forEach("each", { items: [1, 2, 3, 4, 5], step: "work", concurrency: 3 }, null),
        call("work", "check"),
        noop("check", null),
      ],
      happenings: [
        okIn("each:1[1]", { n: 2 }),
        failsIn("each:1[0]"),
        okIn("each:1[2]", { late: true }),
        ...resume,
        okIn("each:1[2]", { n: 3 }),
        okIn("each:1[3]", { n: 4 }),
        okIn("each:1[0]", { n: 1 }),
        okIn("each:1[4]", { n: 5 }),
      ],
      runs: [
        ["each", "success", 2, [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }, { n: 5 }]],
        ["each:1[0] work", "success", 2, { n: 1 }],
        ["each:1[1] work", "success", 1, { n: 2 }],
        ["each:1[2] work", "success", 2, { n: 3 }],
        ["each:1[1] check", "success", 1, { n: 2 }],
        ["each:1[3] work", "success", 2, { n: 4 }],
        ["each:1[2] check", "success", 1, { n: 3 }],
        ["each:1[4] work", "success", 1, { n: 5 }],
        ["each:1[3] check", "success", 1, { n: 4 }],
        ["each:1[0] check", "success", 1, { n: 1 }],
        ["each:1[4] check", "success", 1, { n: 5 }],
      ],
      status: "SUCCEEDED",
    },
  "a forEach that collects failures fails with one failure more than it may have": {
    steps: [
      forEach(
        "each",
        { items: [1, 2, 3, 4], step: "work", onItemFailure: "collect", maxFailures: 1, concurrency: 2 },
        null,
        { onFailure: "tell" },
      ),
      call("work", null),
      transform("tell", { code: "${ error.code }" }, null),
    ],
    happenings: [failsIn("each:1[0]"), okIn("each:1[1]", { n: 2 }), failsIn("each:1[2]"), okIn("each:1[3]", {})],
    runs: [
      ["each", "failure", 1, "TooManyFailures"],
      ["each:1[0] work", "failure", 1, "ExecutorError"],
      ["each:1[1] work", "success", 1, { n: 2 }],
      ["each:1[2] work", "failure", 1, "ExecutorError"],
      ["each:1[3] work", "failure", 1, "Cancelled"],
      ["tell", "success", 1, { code: "TooManyFailures" }],
    ],
    status: "SUCCEEDED",
  },
  "a forEach that counts tells how many items failed": {
    steps: [
      forEach("each", { items: [1, 2, 3], step: "work", onItemFailure: "collect", output: "counts" }, null),
      call("work", null),
    ],
    happenings: [failsIn("each:1[1]"), okIn("each:1[0]", {}), okIn("each:1[2]", {})],
    runs: [
      ["each", "success", 1, { total: 3, succeeded: 2, failed: 1 }],
      ["each:1[0] work", "success", 1, {}],
      ["each:1[1] work", "failure", 1, "ExecutorError"],
      ["each:1[2] work", "success", 1, {}],
    ],
    status: "SUCCEEDED",
  },
  "a failure three forks deep fails each fork around it, and a resume continues only what failed or was cancelled": {
    steps: [
      forEach("outer", { items: [1, 2], step: "split" }, null),
      parallel("split", { left: "inner", right: "b" }, null),
      forEach("inner", { items: ["x", "y"], step: "work" }, null),
      call("work", null),
      call("b", null),
    ],
    happenings: [
      okIn("outer:1[0]/split:1[right]", { b: 1 }),
      okIn("outer:1[0]/split:1[left]/inner:1[0]", { n: 1 }),
      okIn("outer:1[1]/split:1[left]/inner:1[1]", { n: 4 }),
      failsIn("outer:1[0]/split:1[left]/inner:1[1]"),
      okIn("outer:1[1]/split:1[right]", { late: true }),
      ...resume,
      okIn("outer:1[1]/split:1[left]/inner:1[0]", { n: 3 }),
      okIn("outer:1[1]/split:1[right]", { b: 2 }),
      okIn("outer:1[0]/split:1[left]/inner:1[1]", { n: 2 }),
    ],
    runs: [
      [
        "outer",
        "success",
        2,
        [
          { left: [{ n: 1 }, { n: 2 }], right: { b: 1 } },
          { left: [{ n: 3 }, { n: 4 }], right: { b: 2 } },
        ],
      ],
      ["outer:1[0] split", "success", 2, { left: [{ n: 1 }, { n: 2 }], right: { b: 1 } }],
      ["outer:1[0]/split:1[left] inner", "success", 2, [{ n: 1 }, { n: 2 }]],
      ["outer:1[0]/split:1[left]/inner:1[0] work", "success", 1, { n: 1 }],
      ["outer:1[0]/split:1[left]/inner:1[1] work", "success", 2, { n: 2 }],
      ["outer:1[0]/split:1[right] b", "success", 1, { b: 1 }],
      ["outer:1[1] split", "success", 2, { left: [{ n: 3 }, { n: 4 }], right: { b: 2 } }],
      ["outer:1[1]/split:1[left] inner", "success", 2, [{ n: 3 }, { n: 4 }]],
      ["outer:1[1]/split:1[left]/inner:1[0] work", "success", 2, { n: 3 }],
      ["outer:1[1]/split:1[left]/inner:1[1] work", "success", 1, { n: 4 }],
      ["outer:1[1]/split:1[right] b", "success", 2, { b: 2 }],
    ],
    status: "SUCCEEDED",
  },
  "the task of a lost worker goes to another one, and what the first gives late is refused": {
    steps: [forEach("each", { items: [1, 2], step: "work" }, "single"), task("work", null), task("single", null)],
    happenings: [
      okIn("each:1[1]", { n: 2 }),
      workerLost("each:1[0]"),
      late({ late: 1 }),
      okIn("each:1[0]", { n: 1 }),
      workerLost(""),
      late({ late: 2 }),
      okIn("", { n: 3 }),
    ],
    runs: [
      ["each", "success", 1, [{ n: 1 }, { n: 2 }]],
      ["each:1[0] work", "success", 2, { n: 1 }],
      ["each:1[1] work", "success", 1, { n: 2 }],
      ["single", "success", 2, { n: 3 }],
    ],
    status: "SUCCEEDED",
    refused: ["ConflictError", "ConflictError"],
  },
  "the answer for a task that the end of a race took from its worker is refused": {
    steps: [
      parallel("race", { left: "a", right: "b" }, "end", { until: "any" }),
      task("a", null),
      wait("b", ["x"], null),
      task("end", null),
    ],
    happenings: [event("x"), late({ n: 1 }), okIn("", { n: 2 })],
    runs: [
      ["race", "success", 1, { branch: "right", output: {} }],
      ["race:1[left] a", "failure", 1, "Cancelled"],
      ["race:1[right] b", "success", 1, {}],
      ["end", "success", 1, { n: 2 }],
    ],
    status: "SUCCEEDED",
    refused: ["ConflictError"],
  },
  "the timeout of the job ends what is under way in its branches, and a resume gives the job its whole time again": {
    steps: [
      parallel("split", { call: "a", wait: "b", task: "t" }, null),
      call("a", null),
      wait("b", ["x"], null),
      task("t", null),
    ],
    timeoutSeconds: 100,
    happenings: [
      okIn("split:1[task]", { t: 1 }),
      after(100),
      late({ late: true }),
      ...resume,
      after(99),
      okIn("split:1[call]", { n: 1 }),
      event("x"),
    ],
    runs: [
      ["split", "success", 2, { call: { n: 1 }, wait: {}, task: { t: 1 } }],
      ["split:1[call] a", "success", 2, { n: 1 }],
      ["split:1[wait] b", "success", 2, {}],
      ["split:1[task] t", "success", 1, { t: 1 }],
    ],
    status: "SUCCEEDED",
  },
  "the timeout of a wait in a branch ends only that wait": {
    steps: [
      parallel("split", { short: "b", long: "c" }, null),
      { ...wait("b", ["x"], null, { timeoutSeconds: 60 }), onFailure: "late" },
      wait("c", ["y"], null, { timeoutSeconds: 90 }),
      transform("late", { code: "${ error.code }" }, null),
    ],
    happenings: [after(60), event("x"), after(29), event("y")],
    runs: [
      ["split", "success", 1, { short: { code: "Timeout" }, long: {} }],
      ["split:1[short] b", "failure", 1, "Timeout"],
      ["split:1[long] c", "success", 1, {}],
      ["split:1[short] late", "success", 1, { code: "Timeout" }],
    ],
    status: "SUCCEEDED",
  },
  "a choice loops inside a branch, where each visit has its own number": {
    steps: [
      forEach("each", { items: [2, 1], step: "poll" }, null),
      call("poll", null, { transitionToStep: { choose: [{ if: "output.done", then: "told" }], else: "pause" } }),
      delay("pause", { seconds: 30 }, "poll"),
      transform("told", { item: "${ item }", n: "${ steps.poll.output.n }" }, null),
    ],
    happenings: [
      okIn("each:1[0]", { done: false, n: 1 }),
      okIn("each:1[1]", { done: true, n: 1 }),
      after(30),
      okIn("each:1[0]", { done: true, n: 2 }),
    ],
    runs: [
      [
        "each",
        "success",
        1,
        [
          { item: 2, n: 2 },
          { item: 1, n: 1 },
        ],
      ],
      ["each:1[0] poll", "success", 1, { done: false, n: 1 }],
      ["each:1[1] poll", "success", 1, { done: true, n: 1 }],
      ["each:1[0] pause", "success", 1, { done: false, n: 1 }],
      ["each:1[1] told", "success", 1, { item: 1, n: 1 }],
      ["each:1[0] poll", "success", 1, { done: true, n: 2 }],
      ["each:1[0] told", "success", 1, { item: 2, n: 2 }],
    ],
    status: "SUCCEEDED",
  },
  "an event goes to the branch that it is addressed to, also when it comes early": {
    steps: [
      forEach("each", { items: ["p", "q", "r"], step: "prepare", concurrency: 2 }, null),
      call("prepare", "approve"),
      { ...wait("approve", ["x"], "told"), mapping: { output: { by: "${ events.x.payload.by }" } } },
      transform("told", { item: "${ item }", by: "${ steps.approve.output.by }" }, null),
    ],
    happenings: [
      eventFor("each:1[2]", "approve", "x", { by: "Cy" }),
      eventFor("each:1[1]", "approve", "x", { by: "Ben" }),
      okIn("each:1[0]", {}),
      okIn("each:1[1]", {}),
      eventFor("each:1[1]", "approve", "x", { by: "late" }),
      event("x", { by: "Ada" }),
      okIn("each:1[2]", {}),
    ],
    runs: [
      [
        "each",
        "success",
        1,
        [
          { item: "p", by: "Ada" },
          { item: "q", by: "Ben" },
          { item: "r", by: "Cy" },
        ],
      ],
      ["each:1[0] prepare", "success", 1, {}],
      ["each:1[1] prepare", "success", 1, {}],
      ["each:1[0] approve", "success", 1, { by: "Ada" }],
      ["each:1[1] approve", "success", 1, { by: "Ben" }],
      ["each:1[1] told", "success", 1, { item: "q", by: "Ben" }],
      ["each:1[2] prepare", "success", 1, {}],
      ["each:1[0] told", "success", 1, { item: "p", by: "Ada" }],
      ["each:1[2] approve", "success", 1, { by: "Cy" }],
      ["each:1[2] told", "success", 1, { item: "r", by: "Cy" }],
    ],
    status: "SUCCEEDED",
    refused: ["ConflictError"],
  },
  "a forEach gives its outputs in the order of the items, with a retry and a wait in the body": {
    steps: [
      forEach("each", { items: "${ ['p', 'q'] }", step: "try", concurrency: 2 }, null),
      call("try", "confirm", { retry }),
      wait("confirm", ["x"], "told"),
      transform("told", { item: "${ item }", n: "${ steps.try.output.n }" }, null),
    ],
    happenings: [
      failsIn("each:1[0]", "ordinary"),
      okIn("each:1[1]", { n: 2 }),
      event("x"),
      after(1),
      okIn("each:1[0]", { n: 1 }),
      event("x"),
    ],
    runs: [
      [
        "each",
        "success",
        1,
        [
          { item: "p", n: 1 },
          { item: "q", n: 2 },
        ],
      ],
      ["each:1[0] try", "success", 2, { n: 1 }],
      ["each:1[1] try", "success", 1, { n: 2 }],
      ["each:1[1] confirm", "success", 1, { n: 2 }],
      ["each:1[1] told", "success", 1, { item: "q", n: 2 }],
      ["each:1[0] confirm", "success", 1, { n: 1 }],
      ["each:1[0] told", "success", 1, { item: "p", n: 1 }],
    ],
    status: "SUCCEEDED",
  },
  "a forEach that collects failures gives them as results": {
    steps: [
      forEach("each", { items: [1, 2, 3], step: "work", onItemFailure: "collect", concurrency: 2 }, null),
      call("work", null),
    ],
    happenings: [failsIn("each:1[0]"), okIn("each:1[1]", { n: 2 }), okIn("each:1[2]", { n: 3 })],
    runs: [
      [
        "each",
        "success",
        1,
        [
          {
            status: "failed",
            error: { code: "ExecutorError", type: "Boom", message: "no luck", step: "work", branch: "each:1[0]" },
          },
          { status: "succeeded", output: { n: 2 } },
          { status: "succeeded", output: { n: 3 } },
        ],
      ],
      ["each:1[0] work", "failure", 1, "ExecutorError"],
      ["each:1[1] work", "success", 1, { n: 2 }],
      ["each:1[2] work", "success", 1, { n: 3 }],
    ],
    status: "SUCCEEDED",
  },
  "a forEach with large results stores them in rows of their own, and makes its list from these rows": {
    steps: [
      forEach("each", { items: [1, 2, 3], step: "work", concurrency: 3, output: "list" }, "size"),
      call("work", null),
      transform("size", { sizes: "${ steps.each.output.map(one, size(one.text)) }" }, null),
    ],
    happenings: [
      okIn("each:1[2]", { text: "x".repeat(3_000) }),
      okIn("each:1[0]", { text: "x".repeat(100) }),
      okIn("each:1[1]", { text: "x".repeat(2_000) }),
      due,
    ],
    runs: [
      ["each", "success", 1, [{ text: "x".repeat(100) }, { text: "x".repeat(2_000) }, { text: "x".repeat(3_000) }]],
      ["each:1[0] work", "success", 1, { text: "x".repeat(100) }],
      ["each:1[1] work", "success", 1, { text: "x".repeat(2_000) }],
      ["each:1[2] work", "success", 1, { text: "x".repeat(3_000) }],
      ["size", "success", 1, { sizes: [100, 2_000, 3_000] }],
    ],
    status: "SUCCEEDED",
  },
  "forks nested three deep end from the inside out": {
    steps: [
      forEach("outer", { items: "${ [10, 20] }", step: "split", concurrency: 1 }, null),
      parallel("split", { left: "inner", right: "b" }, null),
      forEach("inner", { items: "${ [item, item + 1] }", step: "work", output: "counts" }, null),
      call("work", null),
      noop("b", null),
    ],
    happenings: [10, 20].flatMap((_, index) =>
      [1, 0].map((inner) => okIn(`outer:1[${index}]/split:1[left]/inner:1[${inner}]`, {})),
    ),
    runs: [
      [
        "outer",
        "success",
        1,
        [
          { left: { total: 2, succeeded: 2, failed: 0 }, right: 10 },
          { left: { total: 2, succeeded: 2, failed: 0 }, right: 20 },
        ],
      ],
      ...[10, 20].flatMap((item, index): ExpectedRun[] => {
        const outer = `outer:1[${index}]`;
        const left = { total: 2, succeeded: 2, failed: 0 };
        return [
          [`${outer} split`, "success", 1, { left, right: item }],
          [`${outer}/split:1[left] inner`, "success", 1, left],
          [`${outer}/split:1[left]/inner:1[0] work`, "success", 1, {}],
          [`${outer}/split:1[left]/inner:1[1] work`, "success", 1, {}],
          [`${outer}/split:1[right] b`, "success", 1, item],
        ];
      }),
    ],
    status: "SUCCEEDED",
  },
  "a forEach in a loop has branches of its own at each visit": {
    steps: [
      forEach("each", { items: [1], step: "work" }, "count"),
      call("work", null),
      transform(
        "count",
        { n: "${ has(steps.count.output) ? steps.count.output.n + 1 : 1 }" },
        { choose: [{ if: "output.n < 2", then: "each" }], else: null },
      ),
    ],
    happenings: [okIn("each:1[0]", { n: 1 }), okIn("each:2[0]", { n: 2 })],
    runs: [
      ["each", "success", 1, [{ n: 1 }]],
      ["each:1[0] work", "success", 1, { n: 1 }],
      ["count", "success", 1, { n: 1 }],
      ["each", "success", 1, [{ n: 2 }]],
      ["each:2[0] work", "success", 1, { n: 2 }],
      ["count", "success", 1, { n: 2 }],
    ],
    status: "SUCCEEDED",
  },
  "resume of a job that was cancelled with everything under way in its branches": {
    steps: [
      parallel("split", { call: "a", wait: "b", nap: "d", retry: "r", task: "t" }, null),
      call("a", null),
      wait("b", ["x"], null),
      delay("d", { seconds: 60 }, null),
      call("r", null, { retry }),
      task("t", null),
    ],
    happenings: [
      failsIn("split:1[retry]", "ordinary"),
      cancel,
      after(10),
      okIn("split:1[task]", { late: true }),
      ...resume,
      okIn("split:1[call]", { n: 1 }),
      okIn("split:1[task]", { n: 3 }),
      okIn("split:1[retry]", { n: 2 }),
      event("x"),
      after(50),
    ],
    runs: [
      ["split", "success", 2, { call: { n: 1 }, wait: {}, nap: {}, retry: { n: 2 }, task: { n: 3 } }],
      ["split:1[call] a", "success", 2, { n: 1 }],
      ["split:1[wait] b", "success", 2, {}],
      ["split:1[nap] d", "success", 2, {}],
      ["split:1[retry] r", "success", 2, { n: 2 }],
      ["split:1[task] t", "success", 2, { n: 3 }],
    ],
    status: "SUCCEEDED",
    refused: ["ConflictError"],
  },
};
