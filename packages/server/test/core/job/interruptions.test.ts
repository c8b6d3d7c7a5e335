import { expect, test } from "vitest";
import { type CallHolder, isLostTooOften, isSuspect } from "../../../src/core/job/interruptions.ts";

test.each<[holder: CallHolder, interruptions: number, result: "suspect" | "not a suspect" | "lost too often"]>([
  ["node", 0, "not a suspect"],
  ["node", 1, "not a suspect"],
  ["node", 2, "suspect"],
  ["node", 3, "suspect"],
  ["node", 6, "suspect"],
  ["node", 7, "suspect"],
  ["node", 8, "lost too often"],
  ["worker", 0, "not a suspect"],
  ["worker", 2, "not a suspect"],
  ["worker", 5, "not a suspect"],
  ["worker", 6, "lost too often"],
])("a call of a %s after %i interruptions is %s", (holder, interruptions, result) => {
  const suspect = isSuspect(holder, interruptions) ? "suspect" : "not a suspect";
  expect(isLostTooOften(holder, interruptions) ? "lost too often" : suspect).toBe(result);
});
