import { describe, expect, test } from "vitest";
import {
  boundsOf,
  describeBounds,
  maySendEvent,
  mayUseTag,
  reachesJob,
  reachesWorkflow,
} from "../../src/auth/permissions/token-bounds.ts";

const unbound = { workflowIds: null, tags: null, boundJobId: null, boundEventId: null };
const workflows = { ...unbound, workflowIds: ["w1", "w2"] };
const tags = { ...unbound, tags: ["staging"] };
const both = { ...workflows, ...tags, workflowIds: ["w1"] };
const jobEvent = { ...unbound, boundJobId: "j1", boundEventId: "approved" };

test("a token without any bound reaches everything in its organization", () => {
  expect(boundsOf(unbound)).toBeUndefined();
});

describe.each([
  ["workflows", workflows, { w1: true, w3: false, staging: true, live: true, none: true, j2: true, rejected: true }],
  ["tags", tags, { w1: true, w3: true, staging: true, live: false, none: false, j2: true, rejected: true }],
  [
    "workflows and tags",
    both,
    { w1: true, w3: false, staging: true, live: false, none: false, j2: true, rejected: true },
  ],
  [
    "an event of a job",
    jobEvent,
    { w1: false, w3: false, staging: false, live: false, none: false, j2: false, rejected: false },
  ],
])("a token bound to %s", (_name, bound, may) => {
  const bounds = boundsOf(bound);
  if (bounds === undefined) throw new Error("It is bound.");

  test("a token reaches only the workflows of its bound", () => {
    expect([reachesWorkflow(bounds, "w1"), reachesWorkflow(bounds, "w3")]).toEqual([may.w1, may.w3]);
  });

  test("a token uses only the tags of its bound", () => {
    const used = [mayUseTag(bounds, "staging"), mayUseTag(bounds, "$LIVE"), mayUseTag(bounds, null)];
    expect(used).toEqual([may.staging, may.live, may.none]);
  });

  test("a token bound to a job reaches only that job, and sends only the event of its bound", () => {
    expect([reachesJob(bounds, "j1"), reachesJob(bounds, "j2")]).toEqual([true, may.j2]);
    expect([maySendEvent(bounds, "approved"), maySendEvent(bounds, "rejected")]).toEqual([true, may.rejected]);
  });
});

test.each([
  [workflows, "2 workflows"],
  [{ ...workflows, workflowIds: ["w1"] }, "one workflow"],
  [tags, "the tag staging"],
  [both, "one workflow and the tag staging"],
  [{ ...tags, tags: Array.from({ length: 12 }, (_, index) => `t${index}`) }, "and 2 more"],
  [jobEvent, 'the event "approved" of one job'],
])("the bounds of a token are described in words", (bound, words) => {
  const bounds = boundsOf(bound);
  expect(bounds && describeBounds(bounds)).toContain(words);
});
