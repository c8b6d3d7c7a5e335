import { describe, expect, test } from "vitest";
import { explainJob } from "../../../src/core/explanation/explanation.ts";
import type { Circumstances, Explanation, QueueFacts } from "../../../src/core/explanation/explanation-parts.ts";
import { parked } from "../../../src/core/explanation/parked.ts";
import { duration, listed } from "../../../src/core/explanation/words.ts";
import { callsOf } from "../../../src/core/job/call.ts";
import { foldSteps } from "../../../src/core/job/history.ts";
import { standsOf } from "../../../src/core/job/job-state.ts";
import {
  call,
  childJob,
  delay,
  forEach,
  httpCall,
  noop,
  parallel,
  type StepSketch,
  Story,
  someone,
  task,
  wait,
} from "./jobs.ts";

const nodeId = "0190b1f0-0000-7000-8000-0000000000ee";

/** Explains a job some time after its last change. */
function explain(story: Story, laterMs: number, more: Partial<Circumstances> = {}): Explanation {
  const now = story.now + laterMs;
  const isCalling = standsOf(story.job.state)[0]?.phase === "calling";
  const { plan, entries } = story;
  return explainJob({
    plan,
    job: story.job,
    steps: foldSteps(story.job.input, entries),
    entries,
    now,
    call: callsOf(story.job.state)[0] ?? null,
    node: isCalling ? { nodeId, name: "n1", isAlive: true, heartbeatAt: now - 400 } : null,
    task: null,
    child: null,
    callCounts: new Map([[nodeId, 1]]),
    maxCallsPerNode: 200,
    hasRoom: true,
    hasCallBegun: isCalling ? true : undefined,
    defaultTimeoutMs: 900_000,
    cancelledByName: undefined,
    ...more,
  });
}

const patient = { retry: { maxAttempts: 5, initialIntervalSeconds: 60, jitter: false } };

interface Case {
  readonly name: string;
  readonly story: () => Story;
  readonly laterMs: number;
  readonly more?: Partial<Circumstances>;
  readonly state: Explanation["state"];
  readonly sentence: string;
  readonly facts?: object;
}

function told(steps: ConstructorParameters<typeof Story>[0], ...events: ((story: Story) => unknown)[]): () => Story {
  return () => {
    const story = new Story(steps);
    for (const event of events) event(story);
    return story;
  };
}

test.each([
  {
    isVersion: true,
    reason: "/steps/0/type is unknown",
    sentence:
      "The node `n1` parked the job 1 min 5 s ago: it cannot read version 7 of the workflow `orders` (/steps/0/type is unknown). It tries again in 32 s, and other nodes continue the job if they can. If no node can, the operator has to update the service.",
  },
  {
    isVersion: false,
    reason: undefined,
    sentence:
      "The node `n1` parked the job 1 min 5 s ago: an internal error occurred when it continued the job (the node's log says why). It tries again in 32 s, and other nodes continue the job if they can. If no node can, the operator has to look at the log of the node.",
  },
])("a job that is parked: $sentence", ({ sentence, ...because }) => {
  const job = { workflowName: "orders", versionNumber: 7 };
  const place = { parkedForMs: 65_000, retryInMs: 32_000 };
  expect(parked({ job, nodeName: "n1", now: 1_000_000, ...place, ...because })).toEqual({
    state: "parked",
    sentence,
    facts: { since: 935_000, retryAt: 1_032_000, operations: [] },
  });
});

const cases: readonly Case[] = [
  {
    name: "waits for one event",
    story: told([wait("approve", ["approved"], null)]),
    laterMs: 185_000,
    state: "waitingForEvents",
    sentence: "`approve` has waited 3 min 5 s for the event `approved`.",
    facts: {
      since: 1_000_000,
      missingEventIds: ["approved"],
      missingCount: 1,
      operations: ["SendJobEvent", "CancelJob"],
    },
  },
  {
    name: "waits for the rest of its events",
    story: told([wait("approve", ["a1", "b2", "c3"], null)], (story) => story.send("b2")),
    laterMs: 1_000,
    state: "waitingForEvents",
    sentence: "`approve` has waited 1.0 s for the events `a1` and `c3` (1 of 3 came).",
    facts: { eventIds: ["a1", "b2", "c3"], missingEventIds: ["a1", "c3"], missingCount: 2 },
  },
  {
    name: "waits for any of its events",
    story: told([wait("approve", ["a1", "b2"], null, { match: "any" })]),
    laterMs: 1_000,
    state: "waitingForEvents",
    sentence: "`approve` has waited 1.0 s for 1 of the events `a1` and `b2`.",
    facts: { missingCount: 1 },
  },
  {
    name: "has enough events in a branch, and only needs another commit",
    story: told(
      [
        parallel("split", { left: "a", right: "b" }, null),
        { ...wait("a", ["x", "y"], null, { timeoutSeconds: 1 }), onFailure: "gave-up" },
        wait("b", ["x"], null),
        noop("gave-up", null),
      ],
      (story) => story.send("x"),
      (story) => story.later(1_000),
    ),
    laterMs: 0,
    state: "forked",
    sentence:
      "`split` has run its branches for 1.0 s: 1 of 2 is done, and 1 is open. In branch `right` (`split:1[right]`): `b` has the events that it needs: a node only has to find the job.",
    facts: { missingEventIds: [], missingCount: 0 },
  },
  {
    name: "waits until a time, after which a step takes over",
    story: told([
      { ...wait("approve", ["approved"], null, { timeoutSeconds: 60 }), onFailure: "remind" },
      noop("remind", null),
    ]),
    laterMs: 20_000,
    state: "waitingForEvents",
    sentence: "`approve` has waited 20 s for the event `approved`; in 40 s it gives up and `remind` takes over.",
    facts: { timeoutAt: 1_060_000 },
  },
  {
    name: "sleeps",
    story: told([delay("pause", { seconds: 3_600 }, null)]),
    laterMs: 600_000,
    state: "delayed",
    sentence: "`pause` has slept for 10 min and sleeps 50 min longer, until 1970-01-01T01:16:40.000Z.",
    facts: { step: "pause", delayEndsAt: 4_600_000, operations: ["CancelJob"] },
  },
  {
    name: "has slept long enough",
    story: told([delay("pause", { seconds: 5 }, null)]),
    laterMs: 5_100,
    state: "due",
    sentence: "`pause` has slept long enough: a node only has to find the job.",
  },
  {
    name: "waits, and has a deadline",
    story: () => new Story([wait("approve", ["approved"], null)], { timeoutSeconds: 60 }),
    laterMs: 20_000,
    state: "waitingForEvents",
    sentence:
      "`approve` has waited 20 s for the event `approved`. The whole job fails in 40 s if it has not ended by then.",
    facts: { jobTimeoutAt: 1_060_000 },
  },
  {
    name: "failed because the whole job took too long",
    story: () => {
      const story = new Story([wait("approve", ["approved"], null)], { timeoutSeconds: 60 });
      story.later(60_000);
      return story;
    },
    laterMs: 0,
    state: "failed",
    sentence:
      "The job failed 0.0 s ago: attempt 1 of `approve` ended with JobTimeout: The job was not done after 60 s, the `timeoutSeconds` of its definition. Find out what took so long, then resume the job: it continues with `approve`, and the timeout of the whole job starts again.",
    facts: { operations: ["ResumeJob"] },
  },
  {
    name: "retries a call whose error its policy does not name, since the call was not carried out",
    story: told([call("a", null, { retry: { maxAttempts: 2, on: ["Busy"] } })], (story) => story.fail("transient")),
    laterMs: 0,
    state: "retrying",
    sentence: "Attempt 2 of 3 of `a` starts in 1.0 s. Attempt 1 failed 0.0 s ago with ExecutorError: no luck.",
    facts: { maxAttempts: 3 },
  },
  {
    name: "waits until a time, and the step that a Timeout leads to takes over",
    story: told([
      {
        ...wait("approve", ["approved"], null, { timeoutSeconds: 60 }),
        onFailure: [
          { on: ["OutputMismatch"], then: "mend" },
          { on: ["Timeout"], then: "remind" },
        ],
      },
      noop("remind", null),
      noop("mend", null),
    ]),
    laterMs: 20_000,
    state: "waitingForEvents",
    sentence: "`approve` has waited 20 s for the event `approved`; in 40 s it gives up and `remind` takes over.",
  },
  {
    name: "waits for an event that came with a typo",
    story: told([wait("approve", ["manager-approved"], null)], (story) => {
      story.now += 10_000;
      story.send("manager-aproved");
      story.send("something-else");
    }),
    laterMs: 12_000,
    state: "waitingForEvents",
    sentence:
      "`approve` has waited 22 s for the event `manager-approved`. The event `manager-aproved` came 12 s ago, but no step waits for it: did the sender mean `manager-approved`?",
    facts: {
      misspelledEvents: [{ eventId: "manager-aproved", meantEventId: "manager-approved", receivedAt: 1_010_000 }],
    },
  },
  {
    name: "waits, and keeps an event for a later step",
    story: told([wait("approve", ["approved"], "ship"), wait("ship", ["shipped"], null)], (story) =>
      story.send("shipped"),
    ),
    laterMs: 0,
    state: "waitingForEvents",
    sentence: "`approve` has waited 0.0 s for the event `approved`.",
    facts: { bufferedEventIds: ["shipped"] },
  },
  {
    name: "reached the timeout of its wait",
    story: told([wait("approve", ["approved"], null, { timeoutSeconds: 60 })]),
    laterMs: 60_100,
    more: { hasRoom: false },
    state: "due",
    sentence: "The time of `approve` is up, and `approved` did not come: a node only has to find the job.",
  },
  {
    name: "tries again",
    story: told(
      [call("charge", null, patient)],
      (story) => story.fail(),
      (story) => story.later(60_000),
      (story) => story.fail(),
    ),
    laterMs: 20_000,
    state: "retrying",
    sentence: "Attempt 3 of 5 of `charge` starts in 40 s. Attempt 2 failed 20 s ago with ExecutorError: no luck.",
    facts: {
      attempt: 3,
      maxAttempts: 5,
      nextAttemptAt: 1_120_000,
      lastError: { code: "ExecutorError", message: "no luck" },
    },
  },
  {
    name: "tries again without a policy, since the call was not carried out",
    story: told([call("charge", null)], (story) => story.fail("transient")),
    laterMs: 0,
    state: "retrying",
    sentence: "Attempt 2 of 3 of `charge` starts in 1.0 s. Attempt 1 failed 0.0 s ago with ExecutorError: no luck.",
  },
  {
    name: "retries after a resume, which starts the count again",
    story: told(
      [call("charge", null, { retry: { maxAttempts: 2, initialIntervalSeconds: 60, jitter: false } })],
      (story) => story.fail("permanent"),
      (story) => story.apply({ type: "job.resumed", by: someone }),
      (story) => story.later(0),
      (story) => story.fail(),
    ),
    laterMs: 0,
    state: "retrying",
    sentence: "Attempt 3 of 3 of `charge` starts in 1 min. Attempt 2 failed 0.0 s ago with ExecutorError: no luck.",
  },
  {
    name: "has an attempt that is due and finds no room",
    story: told([call("charge", null, patient)], (story) => story.fail()),
    laterMs: 75_000,
    more: { hasRoom: false, callCounts: new Map([["n", 5_200]]) },
    state: "roomFull",
    sentence:
      "Attempt 2 of 5 of `charge` is due, but there has been no room for its call for 15 s: its organization has 5200 calls under way or queued, and one node runs at most 200 of them at once. Attempt 1 failed 1 min 15 s ago with ExecutorError: no luck.",
    facts: { callCount: 5_200, maxCallsPerNode: 200 },
  },
  {
    name: "was handed back by a node that left",
    story: told([call("charge", null)], (story) => story.handBack(false)),
    laterMs: 100,
    state: "due",
    sentence: "Attempt 1 of `charge` is due: a node only has to find the job. The node that held the call stopped.",
  },
  {
    name: "is accepted and has no room",
    story: () => new Story([call("charge", null)], { hasRoom: false }),
    laterMs: 30_000,
    more: {
      hasRoom: false,
      callCounts: new Map([
        ["n", 5_200],
        ["m", 1],
      ]),
    },
    state: "roomFull",
    sentence:
      "The job is accepted and starts with `charge`, but there has been no room for its call for 30 s: its organization has 5201 calls under way or queued, and one node runs at most 200 of them at once.",
    facts: { step: "charge", callCount: 5_201 },
  },
  {
    name: "is accepted, and no node has looked for it yet",
    story: () => new Story([call("charge", null)], { hasRoom: false }),
    laterMs: 8_000,
    state: "due",
    sentence:
      "The job is accepted and starts with `charge`: a node only has to find the job. It is 8.0 s overdue. Check whether nodes are running and can reach the store.",
  },
  {
    name: "was resumed",
    story: told(
      [call("charge", null)],
      (story) => story.fail(),
      (story) => story.apply({ type: "job.resumed", by: someone }),
    ),
    laterMs: 100,
    state: "due",
    sentence: "The job was resumed and continues with `charge`: a node only has to find the job.",
  },
  {
    name: "calls",
    story: told([call("charge", null, { ...patient, timeoutSeconds: 30 })]),
    laterMs: 12_000,
    state: "calling",
    sentence:
      "Attempt 1 of 5 of `charge` has been under way for 12 s on node `n1`, whose last heartbeat was 0.4 s ago; the attempt is given up in 18 s.",
    facts: {
      node: { nodeId, name: "n1", isAlive: true, heartbeatAt: 1_011_600 },
      timeoutAt: 1_030_000,
      maxAttempts: 5,
    },
  },
  {
    name: "calls under the default timeout and without a policy",
    story: told([call("charge", null)]),
    laterMs: 60_000,
    state: "calling",
    sentence:
      "Attempt 1 of `charge` has been under way for 1 min on node `n1`, whose last heartbeat was 0.4 s ago; the attempt is given up in 14 min.",
  },
  {
    name: "has its call in line on the node that answers",
    story: told([call("charge", null)]),
    laterMs: 60_000,
    more: { hasCallBegun: false, callCounts: new Map([[nodeId, 350]]) },
    state: "queued",
    sentence:
      "Attempt 1 of `charge` has waited for its turn for 1 min on node `n1`: the organization has 350 calls there, of which at most 200 run at the same time.",
    facts: { callCount: 350, maxCallsPerNode: 200 },
  },
  {
    name: "has its call in line on a node that is busy with the calls of other organizations",
    story: told([call("charge", null)]),
    laterMs: 60_000,
    more: { hasCallBegun: false, callCounts: new Map([[nodeId, 1]]) },
    state: "queued",
    sentence: "Attempt 1 of `charge` has waited for its turn for 1 min on node `n1`: the node makes other calls first.",
    facts: { callCount: 1, maxCallsPerNode: 200 },
  },
  {
    name: "may have its call in line on another node",
    story: told([call("charge", null)]),
    laterMs: 60_000,
    more: { hasCallBegun: undefined, callCounts: new Map([[nodeId, 350]]) },
    state: "queued",
    sentence:
      "Attempt 1 of `charge` has been queued or under way for 1 min on node `n1`: the organization has 350 calls there, of which at most 200 run at the same time.",
  },
  {
    name: "is held by a node that died",
    story: told([call("charge", null)]),
    laterMs: 60_000,
    more: { node: { nodeId, name: "n1", isAlive: false, heartbeatAt: 1_046_000 }, hasCallBegun: undefined },
    state: "nodeLost",
    sentence:
      "The node `n1`, which holds attempt 1 of `charge`, has sent no heartbeat for 14 s: another node takes the call over soon.",
  },
  {
    name: "is held by a node that is forgotten",
    story: told([call("charge", null)]),
    laterMs: 60_000,
    more: { node: { nodeId, isAlive: false }, hasCallBegun: undefined },
    state: "nodeLost",
    sentence: "The node that holds attempt 1 of `charge` is gone: another node takes the call over soon.",
  },
  {
    name: "succeeded",
    story: told([call("charge", null)], (story) => {
      story.now += 3_200;
      story.succeed({});
    }),
    laterMs: 300_000,
    state: "succeeded",
    sentence: "The job succeeded 5 min ago, 3.2 s after it was submitted.",
    facts: { since: 1_003_200, operations: [] },
  },
  {
    name: "failed in a call",
    story: told([call("charge", null)], (story) => story.fail()),
    laterMs: 300_000,
    state: "failed",
    sentence:
      "The job failed 5 min ago: attempt 1 of `charge` ended with ExecutorError: no luck. Fix what `charge` calls, then resume the job: it continues with `charge`.",
    facts: { error: { code: "ExecutorError", step: "charge", attempt: 1 }, operations: ["ResumeJob"] },
  },
  {
    name: "failed at the timeout of a wait",
    story: told([wait("approve", ["approved"], null, { timeoutSeconds: 60 })], (story) => story.later(60_000)),
    laterMs: 0,
    state: "failed",
    sentence:
      "The job failed 0.0 s ago: attempt 1 of `approve` ended with Timeout: approve waited 60.0 s for its events, and not enough of them came. Resume the job: `approve` then waits again.",
    facts: { operations: ["ResumeJob"] },
  },
  {
    name: "failed since an expression in its input has no value",
    story: told([call("a", "b"), call("b", null, { mapping: { input: "${ steps.a.output.id }" } })], (story) =>
      story.succeed({}),
    ),
    laterMs: 0,
    state: "failed",
    sentence:
      "The job failed 0.0 s ago: attempt 1 of `b` ended with ExpressionFailed: In `input` of b, `steps.a.output.id` is not there; before you read it, ask with `has(steps.a.output.id)`. Register a version whose expression has a value in this case too, and submit a new job, because this job would fail again if you resumed it.",
    facts: { operations: ["SubmitJob"] },
  },
  {
    name: "failed for good, since its input and version never change",
    story: told([noop("a", "b"), noop("b", "a", { onFailure: "end" }), noop("end", null)]),
    laterMs: 0,
    state: "failed",
    sentence:
      "The job failed 0.0 s ago: attempt 0 of `a` ended with StepLimitExceeded: The job entered 50 steps, which is the maximum of one job. Check whether there is a loop that never ends. Register a version whose loop ends, and submit a new job, because this job would fail again if you resumed it.",
    facts: { operations: ["SubmitJob"] },
  },
  {
    name: "was cancelled while it waited",
    story: told([wait("approve", ["approved"], null)], (story) => story.apply({ type: "job.cancelled", by: someone })),
    laterMs: 300_000,
    more: { cancelledByName: "Ada" },
    state: "cancelled",
    sentence:
      "The job was cancelled 5 min ago by the user `Ada`, at `approve`. If you resume it, it continues from there.",
    facts: { cancelledBy: { ...someone, name: "Ada" }, operations: ["ResumeJob"] },
  },
  {
    name: "was cancelled before its first step, by an account that no longer exists",
    story: () => {
      const story = new Story([call("charge", null)], { hasRoom: false });
      story.apply({ type: "job.cancelled", by: someone });
      return story;
    },
    laterMs: 0,
    state: "cancelled",
    sentence: `The job was cancelled 0.0 s ago by the user ${someone.id}, before its first step. If you resume it, it starts.`,
  },
];

describe("the explanation of a job", () => {
  test.each(cases)("a job that $name", ({ story, laterMs, more, state, sentence, facts }) => {
    const explained = explain(story(), laterMs, more);
    expect(explained.sentence).toBe(sentence);
    expect(explained.state).toBe(state);
    expect(explained.facts).toMatchObject(facts ?? {});
  });

  test("a job between two commits of a long chain continues at once", () => {
    const story = new Story([noop("a", null)]);
    const stand = { phase: "next", name: "a", wakeAt: story.now };
    const state = { status: "RUNNING", progress: {}, cursors: [{ branch: "", carried: {}, stand }] } as never;
    const job = { ...story.job, finishedAt: null, state };
    expect(explain(story, 100, { job }).sentence).toBe("The next step is `a`: a node only has to find the job.");
  });
});

test.each([
  ["OutputMismatch", "SubmitJob", "ResumeJob"],
  ["InputMismatch", "SubmitJob", "SubmitJob"],
  ["OutputTooLarge", "SubmitJob", "ResumeJob"],
  ["ValueLimitExceeded", "SubmitJob", "SubmitJob"],
  ["Interrupted", "ResumeJob", "ResumeJob"],
  ["Timeout", "ResumeJob", "ResumeJob"],
] as const)(
  "after %s a step without a call needs %s, and a step with a call needs %s",
  (code, withoutCall, withCall) => {
    for (const [steps, operation] of [
      [[noop("a", null)], withoutCall],
      [[call("a", null)], withCall],
    ] as const) {
      const story = new Story(steps);
      const error = { code, message: "It is so.", step: "a", attempt: 1 };
      const cursors = [{ branch: "", carried: {}, stand: { phase: "in", name: "a" } }];
      const job = { ...story.job, state: { status: "FAILED", error, cursors } as never };
      expect(explain(story, 0, { job }).facts.operations).toEqual([operation]);
    }
  },
);

const text = "x".repeat(100);
const twice = "${ input.text + input.text }";
const hasNoValue = "Register a version whose expression has a value in this case too, and submit a new job";
const isTooLarge =
  "Register a version in which the step's input and config are small enough for such a job, and submit a new job";

test.each<[string, StepSketch, string]>([
  ["the config of a call has no value", task("work", null, { config: { queue: "${ input.none }" } }), hasNoValue],
  ["the config of a wait has no value", wait("work", "${ input.none }", null), hasNoValue],
  ["its input is too large", call("work", null, { mapping: { input: twice } }), isTooLarge],
  [
    "its config is too large",
    httpCall("work", { method: "POST", url: "https://a.example", body: twice }, null),
    isTooLarge,
  ],
])("a job that failed before the work of its step, since %s, fails again after a resume", (_, step, advice) => {
  const story = new Story([noop("first", "work"), step], { input: { text }, maxOutputBytes: 180 });
  const { sentence, facts } = explain(story, 0);
  expect(sentence).toContain(advice);
  expect(facts.operations).toEqual(["SubmitJob"]);
});

test("a job whose call had too large an output can succeed after a resume", () => {
  const story = new Story([call("work", null)]);
  story.fail("permanent", { code: "OutputTooLarge" });
  const { sentence, facts } = explain(story, 0);
  expect(sentence).toContain("Change what `work` calls so that its output is smaller, then resume the job");
  expect(facts.operations).toEqual(["ResumeJob"]);
});

test("a message from outside cannot make the sentence long or break it into lines", () => {
  const story = new Story([call("charge", null)]);
  const error = { code: "ExecutorError" as const, type: "TypeError", message: `a\n\n  b${"x".repeat(5_000)}` };
  story.apply({ type: "step.failed", ...story.call, failure: { kind: "permanent", error }, random: 1 });
  const { sentence, facts } = explain(story, 0);
  expect(sentence).toContain("ended with TypeError: a bxxx");
  expect(sentence.length).toBeLessThan(600);
  expect(facts.error?.message).toBe(error.message);
});

test("only the latest of thousands of events are compared with the missing ones", () => {
  const story = new Story([wait("approve", ["manager-approved"], null)]);
  const stray = story.entries[0];
  if (stray === undefined) throw new Error("no entry");
  const strays = Array.from({ length: 10_000 }, (_, index) => ({
    sequence: 100 + index,
    at: story.now,
    type: "event.received" as const,
    eventId: `manager-approved${index % 1_000}`,
    eventNumber: index + 1,
    outcome: "unmatched" as const,
  }));
  const { facts } = explain(story, 0, { entries: [...story.entries, ...strays] });
  expect(facts.misspelledEvents?.length).toBe(100);
});

test.each([
  [-5, "0.0 s"],
  [940, "0.9 s"],
  [59_400, "59 s"],
  [60_000, "1 min"],
  [3_599_000, "59 min 59 s"],
  [3_600_000, "1 h"],
  [5_400_000, "1 h 30 min"],
  [90_000_000, "1 d 1 h"],
])("%i ms are shown as %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test("a sentence lists only the first five of many names", () => {
  expect(listed(["a"])).toBe("`a`");
  expect(listed(["a", "b", "c"])).toBe("`a`, `b` and `c`");
  expect(listed(["a", "b", "c", "d", "e", "f", "g"])).toBe("`a`, `b`, `c`, `d`, `e` and 2 more");
});

test("the explanation of branches says how many have ended, and what the first open one waits for", () => {
  const story = new Story(
    [
      forEach("each", { items: "${ [1, 2, 3] }", step: "approve", concurrency: 2 }, null),
      wait("approve", ["approved"], null),
    ],
    {},
  );
  story.send("approved");
  const explained = explain(story, 60_000);
  expect(explained.state).toBe("forked");
  expect(explained.sentence).toBe(
    "`each` has run its branches for 1 min: 1 of 3 is done, and 2 are open. In item 1 of 3 (`each:1[1]`): `approve` has waited 1 min for the event `approved`.",
  );
  expect(explained.facts).toMatchObject({
    step: "each",
    branch: "each:1[1]",
    branchStep: "approve",
    branchVisit: 1,
    branchCount: 3,
    openCount: 2,
    succeededCount: 1,
    missingEventIds: ["approved"],
    operations: ["SendJobEvent", "CancelJob"],
  });
});

test("the explanation of a wait without a handler says that its timeout fails the branch, or the job if there are no branches", () => {
  const approve = wait("approve", ["approved"], null, { timeoutSeconds: 90 });
  const inBranch = new Story([forEach("each", { items: "${ [1] }", step: "approve" }, null), approve]);
  expect(explain(inBranch, 60_000).sentence).toMatch(/; in 30 s it gives up and its branch fails\.$/);
  expect(explain(new Story([approve]), 60_000).sentence).toMatch(/; in 30 s it gives up and the job fails\.$/);
});

test("an event that was sent to the same step in another branch is shown as kept, and as missing in the explained branch", () => {
  const story = new Story([
    forEach("each", { items: "${ [1, 2] }", step: "approve", concurrency: 2 }, null),
    wait("approve", ["asked", "approved"], null),
  ]);
  story.send("asked", { step: "approve", visit: 1, branch: "each:1[1]" });
  expect(explain(story, 60_000).facts).toMatchObject({
    branch: "each:1[0]",
    missingEventIds: ["asked", "approved"],
    bufferedEventIds: ["asked"],
  });
});

test("a wait for a child that the caller may not see is explained without the child, and with the step's timeout if there is one", () => {
  const explained = (timeoutSeconds?: number) => {
    const step = childJob("begin", "leaf", null, timeoutSeconds === undefined ? {} : { timeoutSeconds });
    return explain(new Story([step]), 3_600_000, { node: null, hasCallBegun: undefined });
  };
  expect(explained()).toEqual({
    state: "waitingForJob",
    sentence: "`begin` has waited for 1 h for the job that it began.",
    facts: { since: 1_000_000, step: "begin", visit: 1, attempt: 1, operations: ["CancelJob"] },
  });
  expect(explained(7_200).sentence).toBe(
    "`begin` has waited for 1 h for the job that it began. The attempt fails in 1 h if that job has not ended by then.",
  );
});

test("a branch with a name is shown by its name", () => {
  const story = new Story([
    parallel("split", { left: "a", right: "b" }, null),
    wait("a", ["x"], null),
    noop("b", null),
  ]);
  expect(explain(story, 60_000).sentence).toContain("In branch `left` (`split:1[left]`): `a` has waited");
});

describe("a task", () => {
  const queue = { name: "q", waitingCount: 3, workerCount: 0 };
  const explained = (facts: Partial<QueueFacts>, timeoutSeconds?: number) => {
    const step = task("work", null, timeoutSeconds === undefined ? {} : { timeoutSeconds });
    return explain(new Story([step]), 5_000, { node: null, task: { queue: { ...queue, ...facts }, worker: null } });
  };

  test.each<[string, Partial<QueueFacts>, string]>([
    ["that no worker asks for", {}, "no worker has asked for tasks of this queue for at least a day"],
    [
      "whose workers are gone",
      { polledAt: 405_000 },
      "no worker asks now; the last one asked for tasks of this queue 10 min ago",
    ],
    ["whose queue is paused", { pausedAt: 1_003_000 }, "the queue has been paused for 2.0 s"],
    ["in line", { polledAt: 1_004_000, workerCount: 2 }, "2 workers take tasks from this queue, in which 3 tasks wait"],
  ])("%s", (_, facts, why) => {
    const { state, sentence } = explained(facts);
    expect(state).toBe("waitingForWorker");
    expect(sentence).toBe(`The task of \`work\` has waited in the queue \`q\` for 5.0 s: ${why}.`);
  });

  test("a task with a timeout shows when it fails", () => {
    const { sentence, facts } = explained({}, 60);
    expect(sentence).toMatch(/The attempt fails in 55 s if it has not ended by then\.$/);
    expect(facts.timeoutAt).toBe(1_060_000);
  });

  test("a task in a branch is explained if its branch has been open longest", () => {
    const steps = (items: string) => [
      forEach("each", { items, step: "work", concurrency: 2 }, null),
      task("work", "approve"),
      wait("approve", ["approved"], null),
    ];
    const circumstances = { node: null, task: { queue, worker: null } };
    const story = new Story(steps("${ [1, 2, 3] }"), { input: {} });
    const tasks = explain(story, 5_000, circumstances);
    expect(tasks.state).toBe("forked");
    expect(tasks.sentence).toBe(
      "`each` has run its branches for 5.0 s: 0 of 3 are done, and 2 are open. In item 0 of 3 (`each:1[0]`): The task of `work` has waited in the queue `q` for 5.0 s: no worker has asked for tasks of this queue for at least a day.",
    );
    expect(tasks.facts).toMatchObject({ step: "each", branch: "each:1[0]", queue: { name: "q" }, openCount: 2 });
    story.succeed({}, story.callIn("each:1[0]"));
    const approval = explain(story, 5_000, circumstances);
    expect(approval.facts).toMatchObject({ branch: "each:1[0]", missingEventIds: ["approved"] });
  });

  test("a task that a worker holds shows how long the worker may be silent", () => {
    const worker = { name: "w", takenAt: 1_002_000, leaseUntil: 1_012_000 };
    const { state, sentence } = explain(new Story([task("work", null)]), 5_000, {
      node: null,
      task: { queue, worker },
    });
    expect(state).toBe("working");
    expect(sentence).toBe(
      "The worker `w` has worked on `work` for 3.0 s: another worker gets the task if this one does not report within 7.0 s.",
    );
  });
});
