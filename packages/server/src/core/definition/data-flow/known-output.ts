import { Known } from "../../schema/known.ts";
import { allOfSchemas, anyOfSchemas, newSchema } from "../../schema/node.ts";
import { isClosed, type Schema, withoutRequired } from "../../schema/schema.ts";
import { acceptedTypes } from "../../schema/shape.ts";
import { noTypes, typeSets } from "../../schema/type-set.ts";
import type { StepDefinition } from "../definition-parts.ts";
import { payloadRuleOf } from "../payload-rule.ts";
import { knownWaitOutput, type WaitOutputBudget } from "./wait-output.ts";

/**
 * What an output does to a property that a later step may take: it certainly has it; it may have it; it has not, so that the
 * property is where it was before; or it may have it, and if not, the property is nowhere.
 */
export type Effect = "gives" | "mayGive" | "leaves" | "replaces";

/** What is known of an output, or of the job's input, by the schemas that it fits. */
export class KnownOutput {
  readonly schema: Schema;
  /** The properties that the schema names. */
  readonly names: ReadonlySet<string>;
  readonly #cases: readonly Known[];
  /** What the output does to a property that the schema does not name. */
  readonly effectOnOthers: Effect;
  readonly #fromEvents: ReadonlySet<string>;
  readonly #properties = new Map<string, Schema>();

  /** `fromEvents` are the properties that are never those of before. */
  constructor(schema: Schema, isPassedOn: boolean, fromEvents: ReadonlySet<string> = new Set()) {
    const known = new Known([schema]);
    this.schema = schema;
    this.#fromEvents = fromEvents;
    this.#cases = known.cases ?? [known];
    this.names = new Set(this.#cases.flatMap(({ names }) => [...names]));
    // What a step passes on has been there before. Only what a schema says of it is new.
    this.effectOnOthers = isPassedOn || !this.#cases.some(mayHaveOthers) ? "leaves" : "mayGive";
  }

  effectOn(name: string): Effect {
    if (!this.names.has(name)) return this.effectOnOthers;
    if (this.#cases.every((one) => one.types === typeSets.object && one.requires(name))) return "gives";
    if (this.#fromEvents.has(name)) return "replaces";
    return this.#cases.some((one) => mayHave(one, name)) ? "mayGive" : "leaves";
  }

  property(name: string): Schema {
    const known = this.#properties.get(name);
    if (known !== undefined) return known;
    const cases = this.#cases.filter((one) => mayHave(one, name));
    const schema = anyOfSchemas(cases.map((one) => allOfSchemas(one.property(name))));
    this.#properties.set(name, schema);
    return schema;
  }
}

function mayHave(known: Known, name: string): boolean {
  return mayBeObject(known) && known.mayHave(name);
}

function mayHaveOthers(known: Known): boolean {
  return mayBeObject(known) && known.additional.every((schema) => acceptedTypes(schema) !== noTypes);
}

function mayBeObject(known: Known): boolean {
  return (known.types & typeSets.object) !== noTypes;
}

/** Answers what is known of a step's output once it has been checked. The value that the step's `input` made, if it has one, fits `made`. */
export function knownOutputOf(step: StepDefinition, budget: WaitOutputBudget, made?: Schema): KnownOutput {
  const isPassedOn = !makesItsOwn(step) && step.input === undefined;
  return new KnownOutput(checkedOutput(step, budget, made), isPassedOn, payloadRuleOf(step)?.fromEvents);
}

/** The schema that such an output fits. */
export function checkedOutput(step: StepDefinition, budget: WaitOutputBudget, made?: Schema): Schema {
  const { work, inputSchema, outputSchema } = step;
  // The types of templates know what a fork gives.
  if (work.kind === "fork") return outputSchema;
  if (work.kind === "call") return allOfSchemas([outputSchema, ...[work.resultSchema ?? []].flat()]);
  const received = [inputSchema, ...(made === undefined ? [] : [made])];
  const rule = payloadRuleOf(step);
  if (rule !== undefined) {
    const { fromEvents, certain } = rule;
    const uncertain = new Set([...fromEvents].filter((property) => !certain.has(property)));
    return allOfSchemas([knownWaitOutput(received, step, rule, budget), withoutRequired(outputSchema, uncertain)]);
  }
  const isInputWhole = work.kind !== "wait" || !isClosed(outputSchema);
  return isInputWhole ? allOfSchemas([...received, outputSchema]) : outputSchema;
}

/** Whether the step's output is the very value that it received, and that was the latest output. */
export function passesLatestOutputOn(step: StepDefinition): boolean {
  const { work, inputSchema, outputSchema } = step;
  if (step.input !== undefined || step.output !== undefined) return false;
  if (makesItsOwn(step) || isClosed(inputSchema) || payloadRuleOf(step) !== undefined) return false;
  return work.kind !== "wait" || !isClosed(outputSchema);
}

/** Whether the step gives something else than what it received. */
function makesItsOwn({ work }: StepDefinition): boolean {
  return work.kind === "call" || work.kind === "fork";
}

export function knownJobInput(firstStep: StepDefinition): KnownOutput {
  return new KnownOutput(jobInputSchema(firstStep), false);
}

/** The job's input is an object and was checked against the first step's input definition, unless that is about what the `input` of the step makes. */
export function jobInputSchema({ input, inputSchema }: StepDefinition): Schema {
  return input === undefined ? allOfSchemas([inputSchema, anyObject]) : anyObject;
}

export const anyObject = newSchema({ types: typeSets.object });
