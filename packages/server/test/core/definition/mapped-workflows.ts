import { catalog, limits } from "@stepwell/testing/catalog.ts";
import fc from "fast-check";
import { parseDefinition } from "../../../src/core/definition/definition.ts";
import type { Definition, StepDefinition } from "../../../src/core/definition/definition-parts.ts";
import { currentLanguage } from "../../../src/core/definition/language.ts";
import { type CallName, callsOf } from "../../../src/core/job/call.ts";
import type { HistoryEntry } from "../../../src/core/job/history.ts";
import { standsOf, wakeAtOf } from "../../../src/core/job/job-state.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { compilePlan } from "../../../src/core/plan/plan.ts";
import { allOfSchemas, anything } from "../../../src/core/schema/node.ts";
import { checkValue } from "../../../src/core/schema/schema.ts";
import { Story } from "../job/jobs.ts";
import { workflow } from "../job/sketches.ts";
import { type Chance, handlersOf, objects, outputsFitting, schema, world } from "./walks.ts";

/** Random workflows whose steps read their values by expressions, in the small world of `walks.ts`. */

const property = fc.constantFrom("a", "b", "c");
const events = ["e0", "e1"];

/** The paths that an expression in a step may read. Most of them exist. */
function paths({ around, earlier, forks, loops, isInFork }: Place): fc.Arbitrary<string> {
  const anyStep = fc.constantFrom(...around).map((name) => `steps.${name}`);
  const before = fc.constantFrom(...(earlier.length === 0 ? around : earlier)).map((name) => `steps.${name}`);
  const step = fc.oneof({ weight: isInFork ? 8 : 1, arbitrary: before }, { weight: 1, arbitrary: anyStep });
  const event = fc.constantFrom(...events).map((id) => `events.${id}`);
  const [inner, ...outer] = loops;
  const items =
    inner === undefined ? [] : ["item", `forks.${inner}.item`, ...outer.map((name) => `forks.${name}.item`)];
  const inBody = inner === undefined ? [] : ["index", ...loops.map((name) => `forks.${name}.index`)];
  const whole = fc.oneof(
    { weight: isInFork ? 6 : 2, arbitrary: fc.constant("input") },
    { weight: earlier.length === 0 && isInFork ? 1 : 4, arbitrary: step.map((one) => `${one}.output`) },
    { weight: 1, arbitrary: step.map((one) => `${one}.input`) },
    { weight: isInFork ? 0 : 2, arbitrary: event.map((one) => `${one}.payload`) },
    { weight: isInFork ? 0 : 1, arbitrary: fc.constantFrom("result", "output") },
    ...(items.length === 0 ? [] : [{ weight: 6, arbitrary: fc.constantFrom(...items) }]),
  );
  const rare = fc.oneof(
    event.map((one) => `${one}.sentAt`),
    fc.constantFrom("error.code", "error.type", "error.step", "error.cause.code", "result.status", "result.body.a"),
    step.map((one) => `${one}.error.message`),
  );
  return fc.oneof(
    { weight: 8, arbitrary: fc.tuple(whole, property).map(([of, name]) => `${of}.${name}`) },
    { weight: 2, arbitrary: whole },
    { weight: 1, arbitrary: fc.tuple(whole, property, property).map(([of, one, other]) => `${of}.${one}.${other}`) },
    { weight: isInFork ? 1 : 3, arbitrary: rare },
    ...(inBody.length === 0 ? [] : [{ weight: 1, arbitrary: fc.constantFrom(...inBody) }]),
    ...forks.map(({ name, hasBody }) => ({
      weight: 4,
      arbitrary: fc.constantFrom(...(hasBody ? partsOfList : partsOfMap)).map((part) => `steps.${name}.output${part}`),
    })),
  );
}

const partsOfList = ["", "[0]", "[0].a", "[0].status", "[0].output", "[0].output.a", "[0].error.code", ".failed"];
const partsOfMap = ["", ".b0", ".b0.a", ".b1.b", ".branch", ".output.a"];

const literal = fc.constantFrom('"x"', "1", "null");

function expressions(place: Place): fc.Arbitrary<string> {
  const path = paths(place);
  const [p, q] = ["P", "Q"];
  const forms = [
    ...[p, p, `has(${p}) ? ${p} : L`, `has(${p}) ? ${p} : L`, `has(${p}) && has(${q}) ? [${p}, ${q}] : L`],
    ...[`${p} + 1`, `has(${p}) ? ${p} + 1 : 1`, `has(${p}) && ${p} != null ? ${p} : L`, `${p} == L`],
    ...[`text(${p})`, `[${p}]`, `{"a": ${p}, "b": L}`, `has(${p})`, `[${p}].map(x, x + "x")[0]`, "L"],
    ...[
      `has(${p}) ? (${p} == ${q} ? 1 : "x") : null`,
      `merge({"a": 1}, {"b": ${p}})`,
      `size(${p})`,
      `!has(${p}) ? L : ${p}`,
    ],
    ...[`has(${p}) ? ${p}.map(x, x) : []`, `has(${p}) ? ${p}.map(x, has(x.output), x.output) : L`],
  ];
  return fc
    .tuple(fc.constantFrom(...(place.isInFork ? safeForms : []), ...forms), path, path, literal)
    .map(([form, one, other, value]) => form.replaceAll("P", one).replaceAll("Q", other).replaceAll("L", value));
}

/** Forms that rarely fail, for workflows with branches. Without them, few of those workflows would be valid. */
const safeForms = Array.from({ length: 4 }, () => [
  ...["has(P) ? P : L", "has(P) ? [P] : [L]", "has(P) ? text(P) : L", "has(P) && has(Q) ? [P, Q] : L"],
  ...["has(P) && P == 1 ? P + 1 : 1", '{"a": has(P) ? P : L, "b": L}', "has(P)", "L"],
]).flat();

function conditions(place: Place): fc.Arbitrary<string> {
  const safe = ["has(P)", "has(P) && P == L", "has(P) ? P != L : false"];
  const forms = [
    "P == L",
    "P",
    "P > 0",
    "has(P) || P == L",
    ...safe,
    ...(place.isInFork ? [...safe, ...safe, ...safe] : []),
  ];
  return fc
    .tuple(fc.constantFrom(...forms), paths(place), literal)
    .map(([form, path, value]) => form.replaceAll("P", path).replaceAll("L", value));
}

function templates(place: Place): fc.Arbitrary<JsonValue> {
  const expression = expressions(place).map((source) => `\${ ${source} }`);
  const part = fc.oneof(
    { weight: 6, arbitrary: expression },
    { weight: 1, arbitrary: expression.map((one) => `x${one}`) },
    { weight: 2, arbitrary: fc.constantFrom<JsonValue>("x", 1, null) },
    { weight: 1, arbitrary: expression.map((one) => ({ a: one })) },
  );
  return fc.oneof(
    { weight: 5, arbitrary: fc.dictionary(property, part, { maxKeys: 3, noNullPrototype: true }) },
    { weight: 1, arbitrary: expression },
  );
}

const moments = [
  "${ now + duration('1s') }",
  "${ has(events.e0.sentAt) ? events.e0.sentAt : now }",
  "${ job.submittedAt }",
];

const definitionNames = ["d0", "d1", "d2", "d3"];
const reference = fc.constantFrom(...definitionNames).map((name) => ({ $ref: `#/definitions/${name}` }));

function details(place: Place): fc.Arbitrary<JsonObject> {
  const expression = expressions(place).map((source) => `\${ ${source} }`);
  const eventIds = fc.constantFrom<JsonValue[]>(["e0"], ["e0", "e1"], ["e1"]);
  const wait = fc
    .record({
      eventIds: fc.oneof(
        { weight: 4, arbitrary: eventIds },
        { weight: 1, arbitrary: expression.map((one) => [`e${one}`]) },
      ),
      match: fc.constantFrom<JsonValue>("all", "all", "any", 1),
      payload: fc.option(reference, { nil: undefined }),
    })
    .map(({ eventIds: ids, match, payload }) => {
      const [first] = ids;
      const named = payload !== undefined && (first === "e0" || first === "e1");
      return { eventIds: ids, match, ...(named && { payloadDefinitions: { [first]: payload } }) };
    });
  const delay = fc.oneof(
    {
      weight: 2,
      arbitrary: fc.oneof(fc.constant<JsonValue>(1), expression).map((seconds): JsonObject => ({ seconds })),
    },
    { weight: 1, arbitrary: fc.oneof(fc.constantFrom(...moments), expression).map((until): JsonObject => ({ until })) },
  );
  const some = (value: fc.Arbitrary<JsonValue>) => fc.option(value, { nil: undefined, freq: 2 });
  const http = fc
    .record({
      url: fc.oneof(
        fc.constant("https://example.com/"),
        expression,
        expression.map((one) => `https://example.com/${one}`),
      ),
      headers: some(fc.oneof(expression, fc.record({ "x-a": expression, "x-b": fc.constant("x") }))),
      query: some(fc.oneof(expression, fc.record({ a: expression }))),
      body: some(templates(place)),
    })
    .map(({ url, headers, query, body }) => ({
      url,
      ...(headers !== undefined && { headers }),
      ...(query !== undefined && { query }),
      ...(body !== undefined && { method: "POST", body }),
    }));
  const task = fc.record({
    queue: fc.constantFrom("q", "q", "${ 'q' }", ...(place.loops.length === 0 ? [] : ["q-${ index }"])),
    priority: fc.oneof(fc.constant<JsonValue>(1), expression),
  });
  return fc.oneof(
    fc.constant({
      type: "/service/cloud/function",
      config: { region: "eu-west-1", accountId: "123456789012", functionName: "f" },
    }),
    http.map((config) => ({ type: "/service/http", config })),
    fc.constant({ type: "/service/noop" }),
    fc.constant({ type: "/service/transform" }),
    wait.map((config) => ({ type: "/service/waitForEventIds", config })),
    delay.map((config) => ({ type: "/service/delay", config })),
    task.map((config) => ({ type: "/service/task", config })),
  );
}

/** The fields of a fork that say how its branches run. */
function forkDetails(place: Place, [first = "", second]: readonly string[], isBody: boolean): fc.Arbitrary<JsonObject> {
  const config = isBody
    ? fc
        .record({
          items: itemLists(place),
          concurrency: fc.constantFrom(1, 2),
          onItemFailure: fc.constantFrom("fail", "collect", "collect"),
          output: fc.constantFrom("list", "list", "list", "counts"),
        })
        .map((fields): JsonObject => ({ ...fields, step: first }))
    : fc
        .constantFrom("all", "all", "any")
        .map((until) => ({ branches: { b0: first, ...(second !== undefined && { b1: second }) }, until }));
  return config.map((fields) => ({ type: isBody ? "/service/forEach" : "/service/parallel", config: fields }));
}

function itemLists(place: Place): fc.Arbitrary<JsonValue> {
  const expression = expressions(place);
  const list = fc.oneof(
    expression.map((one) => `[${one}]`),
    fc.tuple(expression, expression).map(([one, other]) => `[${one}, ${other}]`),
    paths(place).map((path) => `has(${path}) ? [${path}] : []`),
    ...place.forks.map(({ name }) => fc.constant(`steps.${name}.output`)),
  );
  const constant = fc.constantFrom<JsonValue>({ a: "x" }, { a: 1, b: null }, "x", 1);
  return fc.oneof(
    { weight: 3, arbitrary: list.map((one) => `\${ ${one} }`) },
    {
      weight: 1,
      arbitrary: fc.array(
        fc.oneof(
          constant,
          list.map((one) => ({ a: `\${ ${one} }` })),
        ),
        { maxLength: 3 },
      ),
    },
  );
}

/** Where a step stands in its workflow. */
interface Place {
  readonly name: string;
  readonly isInFork: boolean;
  /** The steps of the same line, in order. */
  readonly line: readonly string[];
  /** The steps of the same line and of the lines around it. */
  readonly around: readonly string[];
  /** Those of `around` that a job has usually visited before. */
  readonly earlier: readonly string[];
  /** The forks among the steps of `earlier`. */
  readonly forks: readonly Fork[];
  /** The forEach steps around the step, the innermost first. */
  readonly loops: readonly string[];
  /** The steps at which the branches of this step begin; undefined if this step is no fork. */
  readonly starts: readonly string[] | undefined;
  /** Whether the step has a single branch that is the body of a forEach. */
  readonly hasBody: boolean;
}

/** The steps of a line, each with the lines of its branches. */
type Line = readonly { readonly branches: readonly Line[]; readonly hasBody: boolean }[];

const plainStep = { branches: [], hasBody: false };
const straightLines: fc.Arbitrary<Line> = fc
  .integer({ min: 1, max: 5 })
  .map((length) => Array.from({ length }, () => plainStep));

function forkedLines(depth: number): fc.Arbitrary<Line> {
  const plain = fc.constant(plainStep);
  if (depth === 0) return fc.array(plain, { minLength: 1, maxLength: 2 });
  const inner = forkedLines(depth - 1);
  const fork = fc
    .tuple(inner, fc.option(inner), fc.boolean())
    .map(([one, other, hasBody]) => ({ branches: hasBody || other === null ? [one] : [one, other], hasBody }));
  const step = fc.oneof({ weight: 2, arbitrary: plain }, { weight: 1, arbitrary: fork });
  if (depth < maxNesting) return fc.array(step, { minLength: 1, maxLength: 2 });
  return fc
    .tuple(fc.array(plain, { maxLength: 1 }), fork, fc.array(step, { maxLength: 2 }))
    .map((parts) => parts.flat());
}

const maxNesting = 2;

interface Fork {
  readonly name: string;
  readonly hasBody: boolean;
}

type Surroundings = Pick<Place, "around" | "earlier" | "forks" | "loops">;
const nothingAround: Surroundings = { around: [], earlier: [], forks: [], loops: [] };

/** Names the steps of a line, and after them the steps in their branches. */
function placesOf(line: Line, outside = nothingAround, count = { steps: 0 }): Place[] {
  const names = line.map(() => `s${count.steps++}`);
  const isInFork = outside !== nothingAround || line.some(({ branches }) => branches.length > 0);
  return line.flatMap(({ branches, hasBody }, index) => {
    const name = names[index] ?? "";
    const before = line.slice(0, index).map((step, other) => ({ ...step, name: names[other] ?? "" }));
    const forks = [...before.filter((one) => one.branches.length > 0), ...outside.forks];
    const earlier = [...before.map((one) => one.name), ...outside.earlier];
    const here: Surroundings = { around: [...names, ...outside.around], earlier, forks, loops: outside.loops };
    const within = hasBody ? { ...here, loops: [name, ...here.loops] } : here;
    const inner = branches.map((branch) => placesOf(branch, within, count));
    const starts = branches.length === 0 ? undefined : inner.map(([first]) => first?.name ?? "");
    return [{ name, isInFork, line: names, ...here, starts, hasBody }, ...inner.flat()];
  });
}

/** One to five steps that mostly lead to the next one. Not all of these workflows can be registered. */
export const mappedWorkflows = workflowsOf(straightLines, 5);
/** Workflows with branches. Many of their steps have no `input`, so they receive their values without an expression. */
export const forkedWorkflows = workflowsOf(forkedLines(maxNesting), 2);

/** The smaller `plainness` is, the more steps have no `input`. */
function workflowsOf(lines: fc.Arbitrary<Line>, plainness: number): fc.Arbitrary<JsonObject> {
  const loose = fc.oneof({ weight: 2, arbitrary: schema }, { weight: 1, arbitrary: fc.constant<JsonValue>({}) });
  return lines.chain((line) =>
    fc
      .tuple(
        fc.tuple(...placesOf(line).map((place) => stepAt(place, plainness))),
        fc.tuple(...definitionNames.map(() => loose)),
      )
      .map(([steps, schemas]) =>
        workflow(steps, { any: {}, ...Object.fromEntries(schemas.map((one, index) => [`d${index}`, one])) }),
      ),
  );
}

function stepAt(place: Place, plainness: number): fc.Arbitrary<JsonObject> {
  const { name, line, starts, hasBody } = place;
  const target = fc.option(fc.constantFrom(...line));
  const others = line.filter((one) => one !== name);
  const handlers = others.length === 0 ? fc.constant(undefined) : handlingBy(fc.constantFrom(...others));
  const following: fc.Arbitrary<JsonValue> = fc.constant(line[line.indexOf(name) + 1] ?? null);
  const choice = fc
    .tuple(
      fc.array(fc.record({ if: conditions(place), then: fc.oneof(following, target) }), {
        minLength: 1,
        maxLength: 2,
      }),
      following,
    )
    .map(([choose, otherwise]) => ({ choose, else: otherwise }));
  const template = fc.option(templates(place), { nil: undefined, freq: plainness });
  const schemas = place.isInFork ? fc.oneof(reference, fc.constant({ $ref: "#/definitions/any" })) : reference;
  return fc
    .record({
      work: starts === undefined ? details(place) : forkDetails(place, starts, hasBody),
      definitions: fc.tuple(schemas, schemas),
      input: template,
      output: fc.oneof(fc.constant(undefined), template),
      next: fc.oneof(following, following, choice),
      onFailure: handlers,
    })
    .map(({ work, definitions: [inputDefinition, outputDefinition], input, output, next, onFailure }) => ({
      name,
      integrationDetails: { ...work, inputDefinition, outputDefinition },
      ...(input === undefined ? work.type === "/service/transform" && { input: {} } : { input }),
      ...(output !== undefined && { output }),
      transitionToStep: next,
      ...(onFailure !== undefined && { onFailure }),
    }));
}

function handlingBy(step: fc.Arbitrary<string>): fc.Arbitrary<JsonValue | undefined> {
  return fc.option(fc.oneof(step, handlersOf(step)), { nil: undefined, freq: 2 });
}

/** Parses the definition as one that is already registered, whatever the checks would report. */
export function registered(definition: JsonObject): Definition | undefined {
  const parsed = parseDefinition(JSON.stringify(definition), catalog, limits, currentLanguage);
  return "definition" in parsed ? parsed.definition : undefined;
}

/**
 * Runs one job through the state machine. Each call fails, or returns a value that its step accepts. Returns undefined when no job can be submitted.
 */
export function run(definition: Definition, chance: Chance): readonly HistoryEntry[] | undefined {
  const [first] = definition.steps;
  const inputs = objects.filter((one) => first.input !== undefined || checkValue(first.inputSchema, one).length === 0);
  const input = inputs[chance(Math.max(1, inputs.length))];
  if (input === undefined) return undefined;
  const story = begun(definition, input);
  if (story === undefined) return undefined;
  for (let moves = 0; moves < maxMoves && story.status === "RUNNING"; moves++) {
    if (chance(6) === 0) story.send(events[chance(events.length)] ?? "", payloadBy(chance));
    else goOn(story, definition, chance);
  }
  return story.entries;
}

const maxMoves = 40;

function begun(definition: Definition, input: JsonObject): Story | undefined {
  try {
    return new Story(compilePlan(definition), { input, maxStepRuns: 12 });
  } catch {
    // The `input` of the first step fails for this input, so the submission is rejected.
    return undefined;
  }
}

/** Continues with one of the branches, or lets time pass until a branch continues by itself. */
function goOn(story: Story, definition: Definition, chance: Chance): void {
  const { state } = story.job;
  const waits = standsOf(state).filter(({ phase }) => phase === "waiting");
  const calls = callsOf(state);
  const wakeAt = wakeAtOf(state);
  const way = chance(calls.length + waits.length + (wakeAt === null ? 0 : 1));
  const call = calls[way];
  const wait = waits[way - calls.length];
  if (call !== undefined) answer(story, definition, call, chance);
  else if (wait?.phase === "waiting") story.send(wait.missingEventIds[0] ?? "", payloadBy(chance));
  else story.later(Math.max(0, (wakeAt ?? 0) - story.now));
}

function answer(story: Story, { steps }: Definition, call: CallName, chance: Chance): void {
  const step = steps.find((one) => one.name === call.step);
  const effects = story.changes.flatMap((change) => change.effects);
  const { config = {} } = effects.find(({ epoch }) => epoch === call.epoch) ?? {};
  // When an executor begins a call, all values of the config are known, and it checks them.
  if (step?.work.kind === "call" && step.work.by === "node" && isRefused(step, config)) {
    story.fail("permanent", { type: "InvalidRequest" }, call);
    return;
  }
  const resultSchema = step?.work.kind === "call" ? step.work.resultSchema : undefined;
  const known = step?.output === undefined ? (step?.outputSchema ?? anything) : anything;
  const made = resultSchema === undefined ? world : answers;
  const fitting =
    resultSchema === undefined
      ? outputsFitting(known)
      : made.filter((value) => checkValue(allOfSchemas([known, resultSchema]), value).length === 0);
  const output = fitting[chance(Math.max(1, fitting.length))];
  const type = [undefined, "Error0", "Error1"][chance(3)];
  if (output === undefined || chance(4) === 0) story.fail("permanent", type === undefined ? {} : { type }, call);
  else story.succeed(output, call);
}

function isRefused({ type }: StepDefinition, config: JsonObject): boolean {
  return (catalog.get(type)?.checkConfig?.(config) ?? []).length > 0;
}

const answers = world.flatMap((body) => [
  { status: 200, headers: {}, body },
  { status: 204, headers: { etag: "x" }, body },
]);

function payloadBy(chance: Chance): { payload?: JsonValue } {
  const payload = [undefined, ...world][chance(world.length + 1)];
  return payload === undefined ? {} : { payload };
}
