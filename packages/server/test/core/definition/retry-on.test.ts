import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import * as jobs from "../job/jobs.ts";
import { call, parse, workflow } from "../job/sketches.ts";

const any = ["any", "any"] as const;

function problemsOf(on: JsonValue) {
  return parse(workflow([call("a", any, null, { retry: { on } })])).problems;
}

describe("a retry policy is rejected whose `on`", () => {
  test.each<[string, JsonValue, string, string]>([
    ["is one name", "Timeout", "", "must be a list of error codes or types, but is a string; leave `on` out"],
    [
      "has a number",
      ["Timeout", 5],
      "",
      "must be a list of error codes or types, but contains something that is not a text",
    ],
    ["is empty", [], "", "names no error; leave `on` out to mean every error"],
    ["has an empty name", [""], "/0", "must be a name of 1 to 256 characters"],
    ["has a long name", ["x".repeat(257)], "/0", "must be a name of 1 to 256 characters"],
    ["has a name twice", ["Timeout", "Busy", "Timeout"], "/2", "repeats `Timeout`; name each error once"],
    ["has too many names", Array.from({ length: 101 }, (_, index) => `E${index}`), "", "has 101 names"],
    ["has a wildcard", ["*"], "/0", "leave `on` out to mean every error"],
    ["has the wildcard of another language", ["States.ALL"], "/0", "leave `on` out to mean every error"],
    ["has another language's timeout", ["States.Timeout"], "/0", "is called `Timeout` here"],
    ["has another error name of that language", ["States.Permissions"], "/0", "no error here has the name"],
    ["names an error that is never tried again", ["InputMismatch"], "/0", "would fail again"],
    ["names the error of an expression, which is never tried again", ["ExpressionFailed"], "/0", "would fail again"],
  ])("%s", (_, on, pointer, words) => {
    expect(problemsOf(on)).toEqual([
      { pointer: `/steps/0/retry/on${pointer}`, detail: expect.stringContaining(words) },
    ]);
  });
});

test("a retry policy can name codes of the service and types of the called side", () => {
  expect(problemsOf(["Timeout", "ExecutorError", "OutOfStock", "com.example.BusyException"])).toEqual([]);
});

describe("a retry policy with `on`", () => {
  const retry: JsonObject = { maxAttempts: 5, jitter: false, on: ["Timeout", "Busy"] };
  const story = () => new jobs.Story([jobs.call("a", null, { retry })]);

  test.each([
    ["a code", { code: "Timeout" as const }],
    ["a type", { type: "Busy" }],
  ])("retries after an error that it names by %s", (_, named) => {
    const job = story();
    job.fail("ordinary", named);
    expect(job.step).toMatchObject({ phase: "retrying", wakeAt: job.now + 1_000 });
  });

  test("does not retry after an error that it does not name", () => {
    const job = story();
    job.fail("ordinary", { type: "OutOfStock" });
    expect(job.job.state).toMatchObject({ status: "FAILED", error: { type: "OutOfStock", attempt: 1 } });
  });

  test("does not retry after a final error, although it names the error", () => {
    const job = story();
    job.fail("permanent", { type: "Busy" });
    expect(job.status).toBe("FAILED");
  });

  test("does not change the retries of a call that never began", () => {
    const job = story();
    job.fail("transient", { type: "Unreachable" });
    expect(job.step).toMatchObject({ phase: "retrying", wakeAt: job.now + 1_000 });
  });

  test("counts all failed attempts of a visit together, up to the larger number of attempts", () => {
    const job = story();
    const kinds = ["ordinary", "transient", "ordinary", "transient"] as const;
    for (const kind of kinds) {
      job.fail(kind, { type: kind === "ordinary" ? "Busy" : "Unreachable" });
      expect(job.step.phase).toBe("retrying");
      job.later(60_000);
    }
    job.fail("transient", { type: "Unreachable" });
    expect(job.job.state).toMatchObject({ status: "FAILED", error: { attempt: 5 } });
  });
});
