import fc from "fast-check";
import { expect, test } from "vitest";
import { durationClassOf } from "../../../src/core/job/metrics/duration-class.ts";
import {
  type CountedEntry,
  countEntries,
  type EarlierLife,
  measures,
} from "../../../src/core/job/metrics/job-counts.ts";
import { ChangeSum, rollUp } from "../../../src/core/job/metrics/metric-change.ts";

const hour = 3_600_000;
const fresh: EarlierLife = { createdAt: 1_000, end: undefined, startOf: () => undefined };

function summary(earlier: EarlierLife, entries: readonly CountedEntry[]): string {
  const { counts, isComplete } = countEntries(earlier, entries);
  const said = counts.map(({ measure, count, at, durationMs }) => `${count} ${measure} at ${at} (${durationMs})`);
  return [...said, ...(isComplete ? [] : ["incomplete"])].join(", ");
}

const step = { step: "a", visit: 1 };

test.each<[string, EarlierLife, CountedEntry[], string]>([
  [
    "a job is counted when it is submitted, and by its duration when it has succeeded",
    fresh,
    [
      { type: "job.submitted", at: 1_000 },
      { type: "step.started", at: 1_000, ...step },
      { type: "step.succeeded", at: 1_500, ...step },
      { type: "job.succeeded", at: 1_600 },
    ],
    "1 jobsSubmitted at 1000 (null), 1 stepDuration at 1500 (500), 1 jobDuration at 1600 (600)",
  ],
  [
    "a step that began in an earlier commit is measured by the start that the job knows",
    { ...fresh, startOf: () => 1_200 },
    [{ type: "step.succeeded", at: 1_500, ...step }],
    "1 stepDuration at 1500 (300)",
  ],
  [
    "a step with an unknown start leaves the count incomplete",
    fresh,
    [{ type: "step.succeeded", at: 1_500, ...step }],
    "incomplete",
  ],
  [
    "a resume takes back the count of the job's end, at the time at which that end was counted",
    { ...fresh, end: { measure: "jobsFailed", at: 2_000 } },
    [
      { type: "job.resumed", at: 9_000 },
      { type: "job.cancelled", at: 9_500 },
    ],
    "-1 jobsFailed at 2000 (null), 1 jobsCancelled at 9500 (null)",
  ],
  [
    "a job that fails and is resumed in one commit has not ended",
    fresh,
    [
      { type: "step.failed", at: 1_100, ...step },
      { type: "job.failed", at: 1_100 },
      { type: "job.resumed", at: 1_200 },
    ],
    "1 stepFailures at 1100 (null), 1 jobsFailed at 1100 (null), -1 jobsFailed at 1100 (null)",
  ],
])("%s", (_name, earlier, entries, expected) => {
  expect(summary(earlier, entries)).toBe(expected);
});

test("a change counts for its hour and its day, in its workflow and in the total", () => {
  const { counts } = countEntries(fresh, [{ type: "job.submitted", at: 30 * hour }]);
  const sum = new ChangeSum();
  for (const workflowId of ["w1", "w1", "w2"]) sum.add(workflowId, counts);
  const all = "00000000-0000-0000-0000-000000000000";
  const said = rollUp(sum.changes).map((row) => [row.workflowId, row.bucketSeconds, row.bucket, row.count].join(" "));
  expect(said.toSorted()).toEqual(
    [`w1 3600 30 2`, `w1 86400 1 2`, `w2 3600 30 1`, `w2 86400 1 1`, `${all} 3600 30 3`, `${all} 86400 1 3`].toSorted(),
  );
});

test("counts are summed by workflow, measure, hour and class only", () => {
  const count = fc.record({
    measure: fc.constantFrom(...measures),
    at: fc.integer({ min: 0, max: 5 * hour }),
    count: fc.constantFrom(1 as const, -1 as const),
    durationMs: fc.option(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.nat(Number.MAX_SAFE_INTEGER))),
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom("w1", "w2"), count), { maxLength: 40 }), (counted) => {
      const sum = new ChangeSum();
      for (const [workflowId, one] of counted) sum.add(workflowId, [one]);

      const groups = Map.groupBy(counted, ([workflowId, { measure, at, durationMs }]) =>
        [workflowId, measure, Math.floor(at / hour), durationMs === null ? 0 : durationClassOf(durationMs)].join(" "),
      );
      const expected = [...groups].map(([key, group]) => {
        const times = group.map(([, { durationMs }]) => durationMs ?? 0);
        const total = times.reduce((before, ms) => before + ms, 0);
        return [key, group.reduce((before, [, one]) => before + one.count, 0), total, Math.max(...times)].join(" ");
      });
      const said = sum.changes.map((change) =>
        [
          change.workflowId,
          change.measure,
          change.hour,
          change.durationClass,
          change.count,
          change.totalMs,
          change.maxMs,
        ].join(" "),
      );
      expect(said.toSorted()).toEqual(expected.toSorted());
    }),
  );
});
