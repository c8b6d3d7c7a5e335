import { expect, test } from "vitest";
import type { GraphStep } from "../../src/graph/graph-step.ts";
import { recentLayoutOf } from "../../src/graph/recent-layouts.ts";

function stepsOf(name: string): readonly GraphStep[] {
  return [{ name, type: "/service/noop", next: [{ step: null }], onFailure: [] }];
}

test("equal steps get the same layout until eight other graphs were drawn since its last use", () => {
  const others = (from: string, count: number) => {
    for (let number = 0; number < count; number += 1) recentLayoutOf(stepsOf(`${from}${number}`));
  };
  const first = recentLayoutOf(stepsOf("charge"));
  others("a", 7);
  expect(recentLayoutOf(stepsOf("charge"))).toBe(first);
  others("b", 7);
  expect(recentLayoutOf(stepsOf("charge"))).toBe(first);
  others("c", 8);
  expect(recentLayoutOf(stepsOf("charge"))).not.toBe(first);
  expect(recentLayoutOf(stepsOf("charge"))).toEqual(first);
});
