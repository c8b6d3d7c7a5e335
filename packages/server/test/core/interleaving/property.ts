import fc from "fast-check";
import { expect } from "vitest";
import { firstNumberOfResults } from "../../../src/core/job/branch-result.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import type { PlanStep } from "../../../src/core/plan/plan.ts";
import { anyObject, childSketches, forkedSketches, planOfSketch, type Sketch, sketches } from "./definitions.ts";
import { checkByFullMemory, type Happened } from "./full-memory.ts";
import { childMoves, type Move, moves } from "./moves.ts";
import { checkNotices } from "./notices.ts";
import { essence, FaultyRun, isEqual, isTaken, type Machine, parent, replay, uninterrupted } from "./runs.ts";

/** A definition, and everything that happens to one job of it. */
export interface Seed {
  readonly sketch: Sketch;
  readonly input: JsonObject;
  /** Whether the first node has capacity for a call. */
  readonly hasRoom: boolean;
  readonly moves: readonly Move[];
  /** Whether another job began this job and waits for it. */
  readonly isChild: boolean;
}

export const seeds: fc.Arbitrary<Seed> = seedsOf(sketches);
export const forkedSeeds: fc.Arbitrary<Seed> = seedsOf(forkedSketches);
/** Jobs that begin others. */
export const parentSeeds: fc.Arbitrary<Seed> = seedsOf(childSketches);
/** Jobs that begin other jobs, and were begun by another job themselves. */
export const childSeeds: fc.Arbitrary<Seed> = seedsOf(childSketches, childMoves, true);

function seedsOf(definitions: fc.Arbitrary<Sketch>, happenings = moves, isChild = false): fc.Arbitrary<Seed> {
  return fc
    .record({
      sketch: definitions,
      input: anyObject,
      hasRoom: fc.nat(5).map((n) => n > 0),
      moves: happenings,
      isChild: fc.constant(isChild),
    })
    .filter(({ sketch, input }) => isTaken(planOfSketch(sketch), input));
}

/**
 * Runs the job on nodes that die. Repeats the committed facts in memory, in their order, and then once more without the interruptions. All runs must
 * end alike. The inputs and outputs of the steps must follow the language. `note` receives the situations that the run met.
 */
export function endsAsUninterrupted(seed: Seed, machine: Machine, note: (what: string) => void = () => {}): void {
  const plan = planOfSketch(seed.sketch);
  const madeBy = seed.isChild ? { madeBy: parent } : {};
  const run = new FaultyRun(plan, seed.input, machine, { hasRoomForCall: seed.hasRoom, ...madeBy });
  run.run(seed.moves);
  run.settle();
  const entries = run.store.plainEntries;
  const changes = [run.submitted, ...run.committed.map(({ change }) => change)];
  const again = replay(machine, plan, run.submitted, run.committed);
  expectEqual(entries, again.entries);
  expectEqual(run.store.state, again.job.state);
  expectEqual(
    changes.map(({ effects, events }) => ({ effects, events })),
    again.changes.map(({ effects, events }) => ({ effects, events })),
  );
  const codes = entries.flatMap((entry) => (entry.type === "step.failed" ? [entry.error.code] : []));
  // A call that was lost too often fails, which cannot happen without interruptions.
  if (!codes.includes("Interrupted")) {
    const straight = replay(machine, plan, run.submitted, run.committed, uninterrupted);
    expectEqual(essence(entries), essence(straight.entries));
    expectEqual(run.store.row.state.status, straight.job.state.status);
  }
  let position = 0;
  const happened = changes.map((change, index): Happened => {
    const own = entries.slice(position, position + change.entries.length);
    position += change.entries.length;
    return { fact: run.committed[index - 1]?.fact, entries: own, change };
  });
  checkByFullMemory(plan, seed.input, happened);
  checkNotices(happened, seed.isChild ? parent.epoch : undefined);
  const opened = entries.flatMap((entry) => {
    const step = entry.type === "step.started" ? plan.steps.get(entry.step) : undefined;
    return step !== undefined && isOpen(step) ? `${step.type} by expressions` : [];
  });
  const met: string[] = [...entries.map(({ type }) => type), ...opened, ...codes, run.store.row.state.status];
  const numbers = [...run.store.values.keys()];
  if (run.left.length > 0) met.push("a child that is left");
  if (changes.some(({ notice }) => notice !== undefined)) met.push("a notice");
  if (changes.some(({ effects }) => effects.some(({ child }) => child?.isAwaited === false))) met.push("no wait");
  if (numbers.some((number) => number < firstNumberOfResults)) met.push("a value of its own row");
  if (numbers.some((number) => number >= firstNumberOfResults)) met.push("a result of its own row");
  for (const what of met) note(what);
}

/** Whether expressions give a part of the step's config. */
function isOpen({ work }: PlanStep): boolean {
  switch (work.kind) {
    case "pass":
      return false;
    case "wait":
      return work.openRule !== undefined;
    case "delay":
      return "template" in work.delay;
    case "call":
      return work.by === "node" ? work.openConfig !== undefined : "template" in work.terms;
    case "fork":
      return "template" in work.items;
  }
}

/** The quick comparison comes first. The slow one explains a difference in readable form. */
function expectEqual(one: unknown, other: unknown): void {
  if (!isEqual(one, other)) expect(one).toEqual(other);
}
