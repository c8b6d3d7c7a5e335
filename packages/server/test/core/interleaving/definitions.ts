import fc from "fast-check";
import { maxInlineBytes } from "../../../src/core/job/values/value-book.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import type { Plan } from "../../../src/core/plan/plan.ts";
import {
  call,
  delay,
  forEach,
  httpCall,
  noop,
  parallel,
  planOf,
  type StepSketch,
  task,
  textOf,
  transform,
  wait,
} from "../job/jobs.ts";

/** A random definition, in short form. It may use all parts of the language. */
export interface Sketch {
  readonly steps: readonly StepSketch[];
  readonly timeoutSeconds: number | undefined;
}

/** Schemas by name. The closed ones let properties come from much earlier outputs; `brings` and `decides` take them from events. */
const schemas: Record<string, JsonObject> = {
  ab: { type: "object", properties: { a: {}, b: {} }, additionalProperties: false },
  bc: { type: "object", properties: { b: {}, c: {} }, additionalProperties: false },
  brings: { type: "object", properties: { a: {}, brought: {} }, additionalProperties: false },
  takes: { type: "object", properties: { brought: {}, c: {} }, additionalProperties: false },
  needs: { type: "object", properties: { a: {} }, required: ["a"] },
  decides: { type: "object", properties: { brought: {}, d: {} } },
};

export const eventIds = ["x", "y", "z"];
export const errorTypes = ["Boom", "OutOfStock"];

const text = (length: number) => "x".repeat(length);
const anyText = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("one", "two", "three") },
  { weight: 1, arbitrary: fc.constantFrom(text(80), text(maxInlineBytes - 20), text(maxInlineBytes + 50)) },
  { weight: 1, arbitrary: fc.constantFrom(text(4_000), text(9_000)) },
);
const anyValue: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 3, arbitrary: anyText },
  { weight: 2, arbitrary: fc.nat(3) },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.record({ deep: anyText, list: fc.array(anyText, { maxLength: 2 }) }) },
);
export const anyObject = fc.dictionary(fc.constantFrom("a", "b", "c", "d", "brought", "brought"), anyValue, {
  minKeys: 1,
  maxKeys: 4,
  noNullPrototype: true,
}) as fc.Arbitrary<JsonObject>;

/** Expressions over earlier values. Most check first whether a value is present; a few fail when it is absent. */
function expressions(steps: readonly string[]): fc.Arbitrary<string> {
  const property = fc.constantFrom("a", "b", "brought");
  const ofStep = fc
    .tuple(fc.constantFrom(...steps), property, fc.nat(14))
    .map(([step, name, form]) => stepExpression(step, name, form));
  const ofEvent = fc.tuple(fc.constantFrom(...eventIds), fc.nat(12)).map(([id, form]) => eventExpression(id, form));
  const others = fc.constantFrom(
    "has(input.a) ? input.a : 'no a'",
    "has(input.brought) ? input.brought : 'not brought'",
    "now",
    "job.submittedAt",
    "has(error.code) ? error.code + ' in ' + error.step : 'no error'",
  );
  return fc.oneof(
    { weight: 5, arbitrary: ofStep },
    { weight: 2, arbitrary: ofEvent },
    { weight: 2, arbitrary: others },
  );
}

function stepExpression(step: string, name: string, form: number): string {
  const whole = `steps.${step}.output`;
  // In a forEach, "item" stands for the item of the innermost forEach or for its index.
  if (step === "item") return form % 2 === 0 ? "item" : "index";
  return (
    // The sixth form, which only `form` 14 chooses, does not check whether the value is present.
    [
      `has(${whole}) ? ${whole} : null`,
      `has(${whole}) && has(${whole}.${name}) ? ${whole}.${name} : 'no ${name}'`,
      `has(steps.${step}.input) && has(steps.${step}.input.${name}) ? steps.${step}.input.${name} : 'none'`,
      `has(steps.${step}.error) ? steps.${step}.error.code : 'fine'`,
      `has(${whole}) ? 'ran' : 'did not run'`,
    ][form === 14 ? 5 : form % 5] ?? `${whole}.${name}`
  );
}

function eventExpression(id: string, form: number): string {
  return (
    [
      `has(events.${id}.payload) ? events.${id}.payload : null`,
      `has(events.${id}.sentAt) ? events.${id}.sentAt : 'not sent'`,
      `has(events.${id}.payload) && has(events.${id}.payload.brought) ? events.${id}.payload.brought : 'none'`,
    ][form === 12 ? 3 : form % 3] ?? `events.${id}.sentAt`
  );
}

const placeOf = (source: string) => `\${ ${source} }`;

function templates(expression: fc.Arbitrary<string>): fc.Arbitrary<JsonObject> {
  return fc.dictionary(fc.constantFrom("a", "b", "brought"), expression.map(placeOf), {
    minKeys: 1,
    maxKeys: 2,
    noNullPrototype: true,
  });
}

function conditions(steps: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(
      "has(output.a)",
      "has(output.a)",
      "has(output.b)",
      "output.a",
      "has(output.brought) && output.brought == 'one'",
      "has(output.b) && output.b == 1",
    ),
    fc.constantFrom(...steps).map((step) => `has(steps.${step}.output)`),
    fc.constantFrom(...steps).map((step) => `has(steps.${step}.error)`),
    fc.constantFrom(...eventIds).map((id) => `has(events.${id}.payload)`),
  );
}

const maybe = <Value>(arbitrary: fc.Arbitrary<Value>, weight = 2) =>
  fc.oneof({ weight, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const retries: fc.Arbitrary<JsonObject> = fc
  .record({
    maxAttempts: fc.integer({ min: 2, max: 3 }),
    on: maybe(fc.constantFrom<JsonValue>(["Boom"], ["Timeout", "Boom"])),
  })
  .map(({ on, ...retry }) => ({ ...retry, ...(on !== undefined && { on }) }));

/** Conditions that never fail: on the job's input, on steps, on events or on an error. */
function questions(steps: readonly string[]): fc.Arbitrary<string> {
  const step = fc.constantFrom(...steps);
  return fc.oneof(
    fc.constantFrom("has(input.a)", "has(input.b) && input.b == 1", "has(error.code)"),
    step.map((name) => `has(steps.${name}.output)`),
    step.map((name) => `has(steps.${name}.input) && has(steps.${name}.input.a) && steps.${name}.input.a == 'one'`),
    fc.constantFrom(...eventIds).map((id) => `has(events.${id}.payload)`),
  );
}

/** One of two values, chosen by a condition; or any value, which usually does not fit. */
function choices(steps: readonly string[], values: readonly string[]): fc.Arbitrary<string> {
  const value = fc.constantFrom(...values);
  return fc.oneof(
    {
      weight: 9,
      arbitrary: fc.tuple(questions(steps), value, value).map(([is, one, other]) => `${is} ? ${one} : ${other}`),
    },
    { weight: 1, arbitrary: expressions(steps) },
  );
}

interface WaitConfig {
  readonly eventIds: JsonValue;
  readonly more: JsonObject;
}

function waitConfigs(steps: readonly string[]): fc.Arbitrary<WaitConfig> {
  const openId = maybe(choices(steps, ["'x'", "'y'", "'z'", "'one'"]).map(placeOf), 3);
  return fc
    .record({
      ids: fc.subarray(eventIds, { minLength: 1 }),
      openIds: fc.tuple(openId, openId, openId),
      openList: maybe(choices(steps, ["['x']", "['y', 'z']", "['z', 'one']"]).map(placeOf), 9),
      match: maybe(fc.constantFrom<JsonValue>("any", "all", 1)),
      timeoutSeconds: maybe(fc.constantFrom(10, 60), 1),
      payload: maybe(fc.constantFrom("decides", "needs")),
    })
    .map(({ ids, openIds, openList, match, timeoutSeconds, payload }) => {
      const listed = ids.map((id, index) => openIds[index] ?? id);
      // A payload can only be defined for an id that is not an expression.
      const defined = openList === undefined && openIds[0] === undefined ? ids[0] : undefined;
      return {
        eventIds: openList ?? listed,
        more: {
          ...(match !== undefined && { match }),
          ...(timeoutSeconds !== undefined && { timeoutSeconds }),
          ...(payload !== undefined &&
            defined !== undefined && { payloadDefinitions: { [defined]: { $ref: `#/definitions/${payload}` } } }),
        },
      };
    });
}

function delayConfigs(steps: readonly string[]): fc.Arbitrary<JsonObject> {
  const seconds = fc.oneof(
    fc.constantFrom<JsonValue>(1, 30),
    choices(steps, ["30", "1", "0.5", "0"]).map((one): JsonValue => placeOf(one)),
  );
  const moments = ["now", "now + duration('20s')", "timestamp(job.submittedAt) + duration('90s')"];
  const ofEvent = fc
    .constantFrom(...eventIds)
    .map((id) => `has(events.${id}.sentAt) ? timestamp(events.${id}.sentAt) + duration('40s') : now`);
  const until = fc.oneof({ weight: 3, arbitrary: choices(steps, moments) }, { weight: 1, arbitrary: ofEvent });
  return fc.oneof(
    { weight: 3, arbitrary: seconds.map((one) => ({ seconds: one })) },
    { weight: 2, arbitrary: until.map((one) => ({ until: placeOf(one) })) },
  );
}

function httpConfigs(steps: readonly string[]): fc.Arbitrary<JsonObject> {
  const place = expressions(steps).map(placeOf);
  const address = choices(steps, ["'a'", "'b'", "now"]);
  return fc
    .record({
      url: maybe(
        address.map((one) => `https://example.com/${placeOf(one)}`),
        1,
      ),
      headers: maybe(fc.record({ "x-first": place, "x-second": fc.constant("same") })),
      query: maybe(fc.oneof(place, fc.record({ a: place, b: place }))),
      body: maybe(fc.oneof(place, templates(expressions(steps)))),
    })
    .map(({ url = "https://example.com/", headers, query, body }) => ({
      url,
      ...(headers !== undefined && { headers }),
      ...(query !== undefined && { query }),
      ...(body !== undefined && { method: "POST", body }),
    }));
}

function taskConfigs(steps: readonly string[]): fc.Arbitrary<JsonObject> {
  const queue = choices(steps, ["'a'", "'b'"]).map(placeOf);
  const priority = choices(steps, ["1", "-1"]).map(placeOf);
  return fc
    .record({ queue: maybe(queue, 1), priority: maybe(fc.oneof(fc.constantFrom<JsonValue>(2), priority)) })
    .map(({ queue: one = "q", priority: other }) => ({ queue: one, ...(other !== undefined && { priority: other }) }));
}

function stepOf(names: readonly string[], index: number, around: readonly string[] = []): fc.Arbitrary<StepSketch> {
  const readable = [...names, ...around];

  const name = names[index] ?? "";
  const following: string | null = names[index + 1] ?? null;
  const others = names.filter((other) => other !== name);
  const target = fc.constantFrom(following, following, ...names);
  // `else` leads to the next step, and in the last step to the end. So every step can be reached, and every job can end.
  const choice = fc
    .array(fc.tuple(conditions(names), target), { minLength: 1, maxLength: 2 })
    .map((options) => ({ choose: options.map(([condition, then]) => ({ if: condition, then })), else: following }));
  const next: fc.Arbitrary<JsonValue> = fc.oneof(
    { weight: 4, arbitrary: fc.constant<JsonValue>(following) },
    { weight: 2, arbitrary: choice as fc.Arbitrary<JsonValue> },
  );
  const handler = fc.constantFrom(...(others.length === 0 ? [""] : others));
  const handlers: fc.Arbitrary<JsonValue> = fc.oneof(
    handler,
    fc
      .tuple(
        fc.constantFrom("Boom", "Timeout", "ExpressionFailed", "OutputMismatch", "InputMismatch"),
        handler,
        maybe(handler),
      )
      .map(([error, then, rest]) => [{ on: [error], then }, ...(rest === undefined ? [] : [{ then: rest }])]),
  );
  const shape = fc.record({
    kind: fc.constantFrom("noop", "call", "call", "http", "task", "wait", "wait", "delay", "transform"),
    next,
    onFailure: others.length === 0 ? fc.constant(undefined) : maybe(handlers, 1),
    retry: maybe(retries, 1),
    delay: delayConfigs(names),
    http: httpConfigs(names),
    task: taskConfigs(names),
    wait: waitConfigs(names),
    // Any input fits the first step, so that every job can be submitted.
    input: index === 0 ? fc.constant(undefined) : maybe(fc.constantFrom("ab", "bc", "takes", "takes", "needs"), 1),
    output: maybe(fc.constantFrom("ab", "brings", "needs"), 4),
    waitOutput: maybe(fc.constantFrom("brings", "decides", "ab"), 1),
    inputTemplate: index === 0 ? fc.constant(undefined) : maybe(templates(expressions(readable)), 3),
    madeInput: templates(index === 0 ? fc.constantFrom("has(input.a) ? input.a : 1", "now") : expressions(readable)),
    outputTemplate: maybe(
      templates(
        fc.oneof(
          expressions(readable),
          fc.constantFrom("result", "has(result.a) ? result.a : 0", "has(result.b) ? result.b : 1", "text(result)"),
        ),
      ),
      3,
    ),
  });
  return shape.map((one): StepSketch => {
    const mapping = {
      ...(one.inputTemplate !== undefined && { input: one.inputTemplate }),
      ...(one.outputTemplate !== undefined && { output: one.outputTemplate }),
    };
    const more = {
      ...(one.input !== undefined && { input: one.input }),
      ...(one.onFailure !== undefined && { onFailure: one.onFailure }),
      transitionToStep: one.next,
      mapping,
    };
    const output = one.output === undefined ? {} : { output: one.output };
    const retry = one.retry === undefined ? {} : { retry: one.retry };
    switch (one.kind) {
      case "noop":
        return noop(name, null, more);
      case "call":
        return call(name, null, { ...more, ...output, ...retry });
      case "http": {
        const isMade = one.outputTemplate !== undefined;
        return httpCall(name, one.http, null, { ...more, ...(isMade && output), ...retry });
      }
      case "task":
        return task(name, null, { ...more, ...output, ...retry, config: one.task });
      case "wait":
        return {
          ...wait(name, one.wait.eventIds, null, one.wait.more),
          ...more,
          ...(one.waitOutput !== undefined && { output: one.waitOutput }),
        };
      case "delay":
        return delay(name, one.delay, null, more);
      default:
        return { ...transform(name, one.madeInput, null), ...more, mapping: { ...mapping, input: one.madeInput } };
    }
  });
}

/** Definitions of two to six steps. Those that cannot be registered are left out. */
export const sketches: fc.Arbitrary<Sketch> = fc
  .integer({ min: 2, max: 6 })
  .chain((count) => {
    const names = Array.from({ length: count }, (_, index) => `s${index}`);
    return fc.record({
      steps: fc.tuple(...names.map((_, index) => stepOf(names, index))),
      timeoutSeconds: maybe(fc.constantFrom(100, 400), 4),
    });
  })
  .filter((sketch) => planIfAccepted(sketch) !== undefined);

/** A main line of up to four steps, or a branch of up to two. Some of the steps have branches. */
function lineOf(prefix: string, depth: number, around: readonly string[], items: boolean): fc.Arbitrary<StepSketch[]> {
  return fc.integer({ min: 1, max: depth === 0 ? 4 : 2 }).chain((count) => {
    const names = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
    const steps = names.map((name, index) => {
      const plain = stepOf(names, index, items ? [...around, "item"] : around).map((step) => [step]);
      if (depth === 2) return plain;
      const following = names[index + 1] ?? null;
      const fork = forkOf(name, following, depth, [...around, ...names], items);
      return fc.oneof({ weight: depth === 0 ? 1 : 3, arbitrary: plain }, { weight: 1, arbitrary: fork });
    });
    return fc.tuple(...steps).map((lists) => {
      const own = lists.flatMap(([first]) => first ?? []);
      return [...own, ...lists.flatMap(([, ...inner]) => inner)];
    });
  });
}

function forkOf(
  name: string,
  following: string | null,
  depth: number,
  around: readonly string[],
  isInBody: boolean,
): fc.Arbitrary<StepSketch[]> {
  const handled = following === null ? fc.constant({}) : fc.constantFrom({}, { onFailure: following });
  const branches = fc
    .tuple(
      lineOf(`${name}l`, depth + 1, around, isInBody),
      lineOf(`${name}r`, depth + 1, around, isInBody),
      fc.constantFrom<"all" | "any">("all", "any"),
      handled,
    )
    .map(([left, right, until, more]) => [
      parallel(name, { left: `${name}l0`, right: `${name}r0` }, following, { until, ...more }),
      ...left,
      ...right,
    ]);
  const sources = fc.constantFrom<JsonValue>(
    "${ [1, 2, 3] }",
    "${ [input, input, {'a': 'x'}] }",
    "${ has(input.a) ? [input.a, 1] : [] }",
    [{ a: 1 }, { b: text(300) }, { brought: "one" }, null, 5],
    ["x"],
  );
  const config = fc
    .record({
      items: sources,
      concurrency: fc.integer({ min: 1, max: 3 }),
      output: fc.constantFrom("list", "list", "counts"),
      failures: fc.constantFrom<JsonObject>(
        {},
        { onItemFailure: "collect" },
        { onItemFailure: "collect", maxFailures: 1 },
      ),
    })
    .map(({ failures, ...others }): JsonObject => ({ ...others, ...failures, step: `${name}b0` }));
  const body = fc
    .tuple(lineOf(`${name}b`, depth + 1, around, true), config, handled)
    .map(([inner, one, more]) => [forEach(name, one, following, more), ...inner]);
  return fc.oneof(branches, body);
}

/** Definitions with branches that are nested at most two deep. */
export const forkedSketches: fc.Arbitrary<Sketch> = fc
  .record({ steps: lineOf("s", 0, [], false), timeoutSeconds: maybe(fc.constantFrom(100, 400), 6) })
  .filter((sketch) => sketch.steps.some(({ type }) => type === "/service/parallel" || type === "/service/forEach"))
  .filter((sketch) => planIfAccepted(sketch) !== undefined);

/** The config of a step that begins a job. Some configs name no tag. In some, the job's input decides which workflow is named. */
const childConfigs: fc.Arbitrary<JsonObject> = fc
  .record({
    workflow: fc.constantFrom<JsonValue>("other", "${ has(input.a) ? 'other' : 'another' }"),
    version: fc.constantFrom<JsonObject>(
      {},
      { tag: "beta" },
      { tag: "${ has(input.b) ? 'beta' : 'no tag' }" },
      { versionNumber: "${ has(input.a) ? 1 : 0 }" },
      { versionNumber: 2 },
    ),
    waits: fc.constantFrom<JsonObject>({}, {}, { wait: false }),
  })
  .map(({ workflow, version, waits }) => ({ workflow, ...version, ...waits }));

/** Definitions whose calls begin other jobs. */
export const childSketches: fc.Arbitrary<Sketch> = fc
  .record({
    sketch: fc.oneof(sketches, forkedSketches),
    configs: fc.array(childConfigs, { minLength: 3, maxLength: 3 }),
    timeoutSeconds: maybe(fc.constantFrom(30, 90)),
  })
  .map(({ sketch, configs, timeoutSeconds }) => ({
    ...sketch,
    steps: sketch.steps.map((step, index): StepSketch => {
      if (step.type !== "/service/cloud/function") return step;
      const timeout = timeoutSeconds === undefined ? {} : { timeoutSeconds };
      return { ...step, type: "/service/job", config: configs[index % configs.length] ?? {}, ...timeout };
    }),
  }))
  .filter((sketch) => sketch.steps.some(({ type }) => type === "/service/job"))
  .filter((sketch) => planIfAccepted(sketch) !== undefined);

const plans = new WeakMap<Sketch, Plan | null>();

function planIfAccepted(sketch: Sketch): Plan | undefined {
  const known = plans.get(sketch);
  if (known !== undefined) return known ?? undefined;
  const plan = tryToPlan(sketch);
  plans.set(sketch, plan ?? null);
  return plan;
}

function tryToPlan({ steps, timeoutSeconds }: Sketch): Plan | undefined {
  try {
    return planOf(steps, schemas, moreOf(timeoutSeconds));
  } catch {
    return undefined;
  }
}

export function planOfSketch(sketch: Sketch): Plan {
  const plan = planIfAccepted(sketch);
  if (plan === undefined) throw new Error("The definition is refused.");
  return plan;
}

/** The definition as it is registered. */
export function textOfSketch({ steps, timeoutSeconds }: Sketch): string {
  return textOf(steps, schemas, moreOf(timeoutSeconds));
}

function moreOf(timeoutSeconds: number | undefined): JsonObject {
  return timeoutSeconds === undefined ? {} : { timeoutSeconds };
}
