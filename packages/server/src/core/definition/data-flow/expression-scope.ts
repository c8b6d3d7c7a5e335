import {
  type EventTypes,
  type ForkTypes,
  type PartType,
  type StepTypes,
  type TypeScope,
  TypingBudget,
  timestampText,
} from "../../expression/expression.ts";
import { fitsSchema } from "../../schema/check.ts";
import { allOfSchemas, anything, closedObject, newSchema, type Schema } from "../../schema/node.ts";
import { propertiesAlone } from "../../schema/schema.ts";
import { typeSets } from "../../schema/type-set.ts";
import type { StepDefinition, Steps } from "../definition-parts.ts";
import { errorSchema } from "../failures/error-schemas.ts";
import type { Region, Regions } from "../graph/regions.ts";
import type { Edge, StepGraph } from "../graph/step-graph.ts";
import { branchStart, loopsAround } from "./branch-starts.ts";
import { jobInputSchema } from "./known-output.ts";
import { type Change, type Presence, presenceAt } from "./presence.ts";

/** The schemas of the values that the step with the expression has when the expression is evaluated. */
export interface Made {
  readonly input?: Schema;
  readonly result?: Schema;
  readonly output?: Schema;
  /** Whether the step is a wait that has consumed its events. */
  readonly hasConsumed?: boolean;
}

/** The schemas of the outputs that steps made, and of the inputs of steps that did not fail. */
export interface KnownOfSteps {
  readonly outputOf: (step: number) => Schema;
  readonly receivedBy: (step: number) => Schema;
  /** The schema of the items of a forEach. */
  readonly itemOf: (fork: number) => Schema;
}

/** Finds the types of the values that expressions can read at a step of a definition. */
export class ExpressionScopes {
  readonly #steps: Steps;
  readonly #graph: StepGraph;
  readonly #indexes: ReadonlyMap<string, number>;
  /** For each event id, the indexes of the waits that list it. */
  readonly #listing: ReadonlyMap<string, ReadonlySet<number>>;
  readonly #hasOpenWait: boolean;
  readonly #regions: Regions;
  /** The names for hints. They are lists and not iterators, because the first wrong name would use up an iterator. */
  readonly #stepNames: readonly string[];
  readonly #eventIds: readonly string[];
  readonly #known: KnownOfSteps;
  readonly #presences = new Map<string, (step: number) => Presence>();
  readonly #budget = new TypingBudget();
  readonly #payloads = new Map<string, PartType>();

  constructor(steps: Steps, graph: StepGraph, regions: Regions, known: KnownOfSteps) {
    this.#steps = steps;
    this.#graph = graph;
    this.#known = known;
    this.#indexes = new Map(steps.map(({ name }, index) => [name, index]));
    this.#listing = listingWaits(steps);
    this.#regions = regions;
    this.#stepNames = steps.flatMap(({ type, name }) => (type === branchStart ? [] : name));
    this.#eventIds = [...this.#listing.keys()];
    this.#hasOpenWait = steps.some(({ work }) => work.kind === "wait" && work.openRule !== undefined);
  }

  /** Whether the budget is used up. From then on, all types are unknown. */
  get isExhausted(): boolean {
    return this.#budget.isExhausted;
  }

  at(step: number, made: Made): TypeScope {
    const part = (schema: Schema | undefined): PartType =>
      schema === undefined ? nowhere : { presence: "always", schema };
    return {
      input: { presence: "always", schema: jobInputSchema(this.#steps[0]) },
      result: part(made.result),
      output: part(made.output),
      error: { presence: this.#presence("error", changesOfError)(step), schema: errorSchema },
      ...this.#ofItem(step),
      job: { presence: "always", schema: jobSchema },
      step: (name) => this.#step(step, name, made),
      forkAround: (name) => this.#forkAround(name, step),
      stepNames: this.#stepNames,
      event: (eventId) => this.#event(step, eventId, made),
      eventIds: this.#eventIds,
      budget: this.#budget,
    };
  }

  #step(at: number, name: string, made: Made): StepTypes | undefined {
    const index = this.#indexes.get(name);
    const step = index === undefined ? undefined : this.#steps[index];
    if (index === undefined || step === undefined || !this.#isAround(index, at)) return undefined;
    const presence = (part: string, onSuccess: "gives" | "takes", onFailure: "gives" | "takes") =>
      this.#presence(`${part} ${index}`, (from, kind) =>
        from !== index || kind === "fork" ? undefined : kind === "failure" ? onFailure : onSuccess,
      )(at);
    const error = () => presence("error", "takes", "gives");
    // A failed step may have received an input that does not fit its definition.
    const received = () => (error() === "never" ? this.#known.receivedBy(index) : anything);
    const outputOf = this.#known.outputOf;
    // These are getters, because each value needs a walk through the graph, and an expression usually reads only one of them.
    return {
      get output() {
        return { presence: presence("output", "gives", "takes"), schema: outputOf(index) };
      },
      get input() {
        if (index === at && made.input !== undefined) return { presence: "always" as const, schema: made.input };
        return { presence: presence("input", "gives", "gives"), schema: received() };
      },
      get error() {
        return { presence: error(), schema: errorSchema };
      },
    };
  }

  /** Finds the outermost fork that is around the named step, but not around the step at index `at`. */
  #forkAround(name: string, at: number): string | undefined {
    let fork: number | undefined;
    for (let region = this.#regions.of[this.#indexes.get(name) ?? -1]; region !== undefined; region = region.around) {
      if (this.#isInside(at, region)) break;
      fork = region.fork;
    }
    return fork === undefined ? undefined : this.#steps[fork]?.name;
  }

  /** Whether an expression of the step `at` can name the step `named`. A step in a branch cannot be named from outside the branch. */
  #isAround(named: number, at: number): boolean {
    return this.#isInside(at, this.#regions.of[named]);
  }

  #isInside(step: number, outer: Region | undefined): boolean {
    for (let region = this.#regions.of[step]; region !== undefined; region = region.around) {
      if (region === outer) return true;
    }
    return false;
  }

  #ofItem(at: number): Pick<TypeScope, "item" | "index" | "fork" | "forkNames"> {
    const forks = loopsAround(this.#regions.of[at], this.#steps);
    const typesOf = (fork: number | undefined): ForkTypes => {
      if (fork === undefined) return { item: nowhere, index: nowhere };
      const { itemOf } = this.#known;
      return {
        item: {
          presence: "always",
          get schema() {
            return itemOf(fork);
          },
        },
        index: { presence: "always", schema: place },
      };
    };
    const names = new Map(forks.map((fork) => [this.#steps[fork]?.name ?? "", fork]));
    return {
      ...typesOf(forks[0]),
      fork: (name) => (names.has(name) ? typesOf(names.get(name)) : undefined),
      forkNames: names.keys(),
    };
  }

  #event(at: number, eventId: string, made: Made): EventTypes | undefined {
    const listing = this.#listing.get(eventId);
    if (listing === undefined && !this.#hasOpenWait) return undefined;
    const consumptionBy = (step: number) => consumption(this.#steps[step], listing?.has(step) ?? false);
    const presence = this.#presence(`event ${eventId}`, (from, kind) =>
      kind === "transition" ? consumptionBy(from) : undefined,
    )(at);
    const own = made.hasConsumed ? consumptionBy(at) : undefined;
    const known = this.#payloads.get(eventId) ?? payloadType(this.#steps, eventId, listing);
    this.#payloads.set(eventId, known);
    const consumed = own === "gives" ? "always" : own === "mayGive" && presence === "never" ? "maybe" : presence;
    const both = consumed === "always" ? known.presence : consumed;
    return { presence: consumed, payload: { ...known, presence: both } };
  }

  #presence(key: string, changeBy: (step: number, kind: Edge["kind"]) => Change): (step: number) => Presence {
    const known = this.#presences.get(key) ?? presenceAt(this.#graph, changeBy, this.#budget);
    this.#presences.set(key, known);
    return known;
  }
}

function changesOfError(_: number, kind: Edge["kind"]): Change {
  return kind === "failure" ? "gives" : undefined;
}

/** Maps each event id to the waits that list it. Thousands of ids may be listed, and each id is looked up at hundreds of steps. */
function listingWaits(steps: Steps): ReadonlyMap<string, ReadonlySet<number>> {
  const listing = new Map<string, Set<number>>();
  for (const [index, { work }] of steps.entries()) {
    if (work.kind !== "wait") continue;
    for (const eventId of work.rule.eventIds) listing.set(eventId, (listing.get(eventId) ?? new Set()).add(index));
  }
  return listing;
}

/**
 * The effect of a step's end on an event. If the step lists the event's id and needs all of its events, the event is present afterwards. If it needs
 * only some of them, the event may be present. If expressions give the ids, any event may be present.
 */
function consumption(step: StepDefinition | undefined, isListed: boolean): "gives" | "mayGive" | undefined {
  if (step?.work.kind !== "wait") return undefined;
  const { rule, openRule } = step.work;
  if (openRule !== undefined) return "mayGive";
  if (!isListed) return undefined;
  return rule.requiredCount >= rule.eventIds.length ? "gives" : "mayGive";
}

/**
 * The type of an event's payload. When an event is sent, its payload is checked against every step that lists its id (`job/events/sent-payload.ts`).
 * So the payload fits the payload definitions of all these steps, and its properties fit their output definitions. An event without a payload counts
 * as an event with the payload null.
 */
function payloadType(steps: Steps, eventId: string, listing: ReadonlySet<number> = new Set()): PartType {
  const waits = [...listing].flatMap((index) => steps[index] ?? []);
  const schemas = new Set(
    waits.flatMap(({ work }) => (work.kind === "wait" ? (work.payloadSchemas.get(eventId) ?? []) : [])),
  );
  const outputs = new Set(waits.map(({ outputSchema }) => outputSchema));
  const isCertain = [...schemas].some((schema) => fitsSchema(schema, null, maxCheckWork) === false);
  const schema = allOfSchemas([...schemas, ...[...outputs].map(propertiesAlone)]);
  return { presence: isCertain ? "always" : "maybe", schema };
}

/** The bound on the work of checking whether null fits. It is enough for any schema that a person writes. */
const maxCheckWork = 1_000;
const nowhere: PartType = { presence: "never", schema: anything };
const text = newSchema({ types: typeSets.string });
const number = newSchema({ types: typeSets.number });
const place = newSchema({ types: typeSets.whole });
const jobSchema = closedObject(
  new Map([
    ["jobId", text],
    ["submittedAt", timestampText],
    ["workflowName", text],
    ["versionNumber", number],
  ]),
  ["jobId", "submittedAt", "workflowName", "versionNumber"],
  typeSets.object,
);
