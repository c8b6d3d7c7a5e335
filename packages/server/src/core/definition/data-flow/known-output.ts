import { Known } from "../../schema/compare/known.ts";
import { allOfSchemas, anyOfSchemas, newSchema } from "../../schema/node.ts";
import { isClosed, type Schema, withoutRequired } from "../../schema/schema.ts";
import { acceptedTypes } from "../../schema/shape.ts";
import { noTypes, typeSets } from "../../schema/type-set.ts";
import type { StepDefinition } from "../definition-parts.ts";
import { payloadRuleOf } from "../payload-rule.ts";
import { knownWaitOutput, type WaitOutputBudget } from "./wait-output.ts";

/**
 * The effect of an output on a property that a later step may take. `gives`: the output certainly has the property. `mayGive`: the output may have
 * it, and otherwise an earlier value stays. `leaves`: the output brings no value of its own, and an earlier value stays. `replaces`: the output may
 * have the property, and otherwise the property is absent.
 */
export type Effect = "gives" | "mayGive" | "leaves" | "replaces";

/** What is known about an output, or about the job's input, from the schemas that it fits. */
export class KnownOutput {
  readonly schema: Schema;
  /** The properties that the schema names. */
  readonly names: ReadonlySet<string>;
  readonly #cases: readonly Known[];
  /** The effect of the output on a property that the schema does not name. */
  readonly effectOnOthers: Effect;
  readonly #fromEvents: ReadonlySet<string>;
  readonly #properties = new Map<string, Schema>();

  /** `fromEvents` are the properties whose earlier values never stay. */
  constructor(schema: Schema, isPassedOn: boolean, fromEvents: ReadonlySet<string> = new Set()) {
    const known = new Known([schema]);
    this.schema = schema;
    this.#fromEvents = fromEvents;
    this.#cases = known.cases ?? [known];
    this.names = new Set(this.#cases.flatMap(({ names }) => [...names]));
    // If a step passes its input on, it adds only the properties that a schema names.
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

/**
 * Returns what is known about a step's output after its check. When the step has an `input` template, `made` is the schema of the value that the
 * template makes.
 */
export function knownOutputOf(step: StepDefinition, budget: WaitOutputBudget, made?: Schema): KnownOutput {
  const isPassedOn = !makesItsOwn(step) && step.input === undefined;
  return new KnownOutput(checkedOutput(step, budget, made), isPassedOn, payloadRuleOf(step)?.fromEvents);
}

/** The schema of a step's output after its check. */
export function checkedOutput(step: StepDefinition, budget: WaitOutputBudget, made?: Schema): Schema {
  const { work, inputSchema, outputSchema } = step;
  // `TemplateTypes` computes the schema of a fork's result.
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

/** Whether the step's output is the same value as its input, and this value was the latest output before the step. */
export function passesLatestOutputOn(step: StepDefinition): boolean {
  const { work, inputSchema, outputSchema } = step;
  if (step.input !== undefined || step.output !== undefined) return false;
  if (makesItsOwn(step) || isClosed(inputSchema) || payloadRuleOf(step) !== undefined) return false;
  return work.kind !== "wait" || !isClosed(outputSchema);
}

/** Whether the step makes its own output and does not pass its input on. */
function makesItsOwn({ work }: StepDefinition): boolean {
  return work.kind === "call" || work.kind === "fork";
}

export function knownJobInput(firstStep: StepDefinition): KnownOutput {
  return new KnownOutput(jobInputSchema(firstStep), false);
}

/**
 * The schema of the job's input. The input is an object. It was also checked against the first step's input definition, unless that step has an
 * `input` template.
 */
export function jobInputSchema({ input, inputSchema }: StepDefinition): Schema {
  return input === undefined ? allOfSchemas([inputSchema, anyObject]) : anyObject;
}

export const anyObject = newSchema({ types: typeSets.object });
