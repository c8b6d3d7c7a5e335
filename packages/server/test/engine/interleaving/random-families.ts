import fc from "fast-check";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { call, childJob, delay, forEach, noop, parallel, type StepSketch } from "../../core/job/jobs.ts";
import type { Answers, Chance, Fate, Workflows } from "./family.ts";

/** An action on a job of the tree, and the number of moves after which it happens. */
export interface RandomAct {
  readonly afterMoves: number;
  readonly type: "cancel" | "resume";
  /** The index of the job when the tree is listed level by level. */
  readonly place: number;
}

/** Workflows whose jobs begin each other, and all actions on one tree of them. The first workflow is the root's. */
export interface RandomFamily {
  readonly workflows: Workflows;
  readonly answers: Answers;
  readonly acts: readonly RandomAct[];
  /** The numbers that decide every choice that a scenario leaves open. */
  readonly choices: readonly number[];
}

/** Tells from the name of a step whether it waits for the job that it begins. */
export const waits = (step: string): boolean => step.startsWith("begin");

const maybe = <Value extends JsonObject>(value: Value, weight = 2): fc.Arbitrary<Value | object> =>
  fc.oneof({ weight, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.constant(value) });

/** A step that begins a job receives this object as its input, whatever the step before it returned. */
const mapping = { input: { n: 1 } };

function childStep(name: string, workflow: string, following: string | null): fc.Arbitrary<StepSketch> {
  const handled = following === null ? {} : { onFailure: following };
  return fc
    .tuple(
      maybe({ retry: { maxAttempts: 2, initialIntervalSeconds: 1, jitter: false } }, 1),
      maybe({ timeoutSeconds: 30 }),
      maybe(handled, 1),
    )
    .map(([...more]) => childJob(name, workflow, following, Object.assign({ mapping }, ...more)));
}

function linkOf(name: string, workflows: readonly string[], following: string | null): fc.Arbitrary<StepSketch[]> {
  const target = fc.constantFrom(...workflows);
  const [one, other] = [`begin_${name}_one`, `begin_${name}_other`];
  const awaited = target
    .chain((workflow) => childStep(`begin_${name}`, workflow, following))
    .map((step): StepSketch[] => [step]);
  const unawaited = target.map((workflow) => [childJob(`send_${name}`, workflow, following, { mapping, wait: false })]);
  const split = fc
    .tuple(target, target, fc.constantFrom<"all" | "any">("all", "any"))
    .chain(([left, right, until]) =>
      fc
        .tuple(childStep(one, left, null), childStep(other, right, null))
        .map((branches) => [parallel(`split_${name}`, { left: one, right: other }, following, { until }), ...branches]),
    );
  const failures = fc.constantFrom<JsonObject>({}, { onItemFailure: "collect" });
  const each = fc
    .tuple(
      target.chain((workflow) => childStep(one, workflow, null)),
      failures,
    )
    .map(([body, more]): StepSketch[] => [
      forEach(`each_${name}`, { items: [1, 2, 3], step: one, concurrency: 2, ...more }, following),
      body,
    ]);
  return fc.oneof(
    { weight: 5, arbitrary: awaited },
    { weight: 2, arbitrary: unawaited },
    { weight: 2, arbitrary: split },
    { weight: 2, arbitrary: each },
    { weight: 1, arbitrary: fc.constant<StepSketch[]>([call("work", following)]) },
  );
}

/** Makes one or two groups of steps, one after the other. A group begins jobs of these workflows, or makes one call. */
function lineOf(workflows: readonly string[]): fc.Arbitrary<StepSketch[]> {
  const end = noop("end", null);
  return fc
    .tuple(linkOf("first", workflows, "end"), fc.option(linkOf("second", workflows, null)))
    .map(([first, second]) => {
      if (second === null) return [...first, end];
      const next = second[0]?.name ?? null;
      const led = first.map((step) => ({
        ...step,
        ...(step.transitionToStep === "end" && { transitionToStep: next }),
        ...(step.onFailure === "end" && { onFailure: next }),
      }));
      return [...led, ...second];
    })
    .filter((steps) => new Set(steps.map(({ name }) => name)).size === steps.length);
}

const timed = (steps: fc.Arbitrary<StepSketch[]>) =>
  fc.tuple(steps, fc.nat(5)).map(([line, n]) => (n === 0 ? { steps: line, timeoutSeconds: 50 } : line));

const workflows: fc.Arbitrary<Workflows> = fc.record({
  root: timed(lineOf(["middle", "middle", "leaf", "nowhere"])),
  middle: timed(lineOf(["leaf", "leaf", "quick"])),
  leaf: fc.constantFrom([call("work", null)], [delay("pause", { seconds: 30 }, "work"), call("work", null)]),
  quick: fc.constant([noop("only", null)]),
});

const answer = fc.constantFrom<Answers[string][number]>({ n: 1 }, { n: 2 }, { fails: "Boom" }, "never");
const ownAnswers = fc.array(answer, { minLength: 1, maxLength: 3 });

const sound: Fate = { isLostFirst: false, isTwice: false, isReplaced: false };
const fates: readonly Fate[] = [
  ...[sound, sound],
  { ...sound, isLostFirst: true },
  { ...sound, isTwice: true },
  { ...sound, isReplaced: true },
];

export const randomFamilies: fc.Arbitrary<RandomFamily> = fc.record({
  workflows,
  answers: fc.record({ "root.work": ownAnswers, "middle.work": ownAnswers, "leaf.work": ownAnswers }),
  acts: fc.array(
    fc.record({
      afterMoves: fc.nat(12),
      type: fc.constantFrom<RandomAct["type"]>("cancel", "resume"),
      place: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(5) }),
    }),
    { maxLength: 4 },
  ),
  choices: fc.array(fc.nat(1_000), { minLength: 30, maxLength: 60 }),
});

/** Makes choices from this list again and again. Each round adds one more to every choice, so that no round repeats the one before. */
export function chanceBy(choices: readonly number[]): Chance {
  let count = 0;
  const next = () => {
    const choice = choices[count % choices.length] ?? 0;
    count += 1;
    return choice + Math.floor(count / choices.length);
  };
  return { fate: () => fates[next() % fates.length] ?? sound, pick: (bound) => next() % bound };
}
