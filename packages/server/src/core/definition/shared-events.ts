import { type ProblemList, pointerTo, quoted } from "../problem.ts";
import { SchemaComparison } from "../schema/compare/compare.ts";
import { propertiesAlone, type Schema } from "../schema/schema.ts";
import type { StepDefinition } from "./definition-parts.ts";
import { payloadRuleOf } from "./payload-rule.ts";

/**
 * Refuses two definitions (of a payload or an output) for one event if their schemas show that no payload could fit both. Nobody could ever send such
 * an event, because an event is checked against every step that lists its id.
 */
export function checkSharedEvents(steps: readonly StepDefinition[], problems: ProblemList): void {
  const check = new SharedEvents(problems);
  for (const [eventId, listings] of listingsByEventId(steps)) {
    for (const [index, later] of listings.entries()) {
      for (const earlier of listings.slice(0, index + 1)) {
        if (check.isExhausted) return;
        check.compare(eventId, earlier, later);
      }
    }
  }
}

/** The requirements of one step on one event's payload. */
interface Listing {
  readonly step: StepDefinition;
  readonly takes: (property: string) => boolean;
  readonly parts: readonly Part[];
}

/** A schema that applies to a payload, and the place where the step names it. */
interface Part {
  readonly schema: Schema;
  readonly properties: ReadonlyMap<string, Schema>;
  readonly pointer: string;
  readonly title: string;
  /** Whether the whole payload must fit, and not only its properties. */
  readonly isWhole: boolean;
}

/** Leaves out a step whose requirements an earlier step has too: hundreds of steps may list one id, and all listings are compared. */
function listingsByEventId(steps: readonly StepDefinition[]): ReadonlyMap<string, readonly Listing[]> {
  const numbers = new Map<Schema | undefined, number>();
  const numberOf = (schema: Schema | undefined): number => {
    const number = numbers.get(schema) ?? numbers.size;
    numbers.set(schema, number);
    return number;
  };
  const seen = new Set<string>();
  const byEventId = new Map<string, Listing[]>();
  for (const [index, step] of steps.entries()) {
    const { work, inputSchema, outputSchema } = step;
    if (work.kind !== "wait") continue;
    const rule = payloadRuleOf(step);
    const { payloadSchemas } = work;
    for (const eventId of work.rule.eventIds) {
      const key = [inputSchema, outputSchema, payloadSchemas.get(eventId)].map(numberOf).join(" ");
      if (seen.has(`${key} ${eventId}`)) continue;
      seen.add(`${key} ${eventId}`);
      const takes = (property: string) => rule?.takes(eventId, property) ?? false;
      const listing = {
        step,
        takes,
        parts: partsOf(outputSchema, payloadSchemas.get(eventId), eventId, pointerTo("/steps", index)),
      };
      byEventId.set(eventId, [...(byEventId.get(eventId) ?? []), listing]);
    }
  }
  return byEventId;
}

function partsOf(outputSchema: Schema, schema: Schema | undefined, eventId: string, pointer: string): Part[] {
  const details = `${pointer}/integrationDetails`;
  const output = { schema: outputSchema, pointer: `${details}/outputDefinition`, title: "output definition" };
  const payload = schema && {
    schema,
    pointer: pointerTo(`${details}/config/payloadDefinitions`, eventId),
    title: "payload definition",
  };
  return [
    { ...output, properties: declaredSchemas(outputSchema), isWhole: false },
    ...(payload === undefined ? [] : [{ ...payload, properties: declaredSchemas(payload.schema), isWhole: true }]),
  ];
}

function declaredSchemas(schema: Schema): ReadonlyMap<string, Schema> {
  return propertiesAlone(schema).objects?.properties ?? new Map();
}

/**
 * The maximum number of properties and pairs of steps that one check compares. Many steps with thousands of properties each are only partly compared.
 * A problem that is not found here appears when an event is sent.
 */
const maxLookUps = 200_000;

class SharedEvents {
  readonly #comparison = new SchemaComparison();
  readonly #problems: ProblemList;
  #remaining = maxLookUps;

  constructor(problems: ProblemList) {
    this.#problems = problems;
  }

  get isExhausted(): boolean {
    return this.#remaining < 0 || this.#comparison.isExhausted || this.#problems.isFull;
  }

  compare(eventId: string, earlier: Listing, later: Listing): void {
    this.#remaining -= 1;
    for (const [index, part] of later.parts.entries()) {
      for (const other of earlier === later ? later.parts.slice(0, index) : earlier.parts) {
        if (part.schema === other.schema) continue;
        if (part.isWhole && other.isWhole && this.#haveNothingInCommon(other.schema, part.schema)) {
          this.#refuse(part, other, earlier, `the payload of ${quoted(eventId)}`);
          continue;
        }
        this.#compareProperties(eventId, [earlier, other], [later, part]);
      }
    }
  }

  #compareProperties(eventId: string, [earlier, other]: [Listing, Part], [later, part]: [Listing, Part]): void {
    for (const [property, schema] of part.properties) {
      if (--this.#remaining < 0) return;
      const otherSchema = other.properties.get(property);
      if (otherSchema === undefined || !(earlier.takes(property) || later.takes(property))) continue;
      if (!this.#haveNothingInCommon(otherSchema, schema)) continue;
      this.#refuse(part, other, earlier, `${quoted(property)} in the payload of ${quoted(eventId)}`);
    }
  }

  #haveNothingInCommon(one: Schema, other: Schema): boolean {
    return this.#comparison.compare([one], other).noneFits;
  }

  #refuse(part: Part, other: Part, { step }: Listing, subject: string): void {
    const detail = `${subject} can never fit both this and the ${other.title} of ${quoted(step.name)}, so no event could have it; let the two allow a common value, or let the steps wait for different events`;
    this.#problems.add(part.pointer, detail);
  }
}
