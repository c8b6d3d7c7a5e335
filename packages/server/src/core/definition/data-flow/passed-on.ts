import { Known } from "../../schema/compare/known.ts";
import { allOfSchemas, closedObject } from "../../schema/node.ts";
import { declaredProperties, isClosed, type Schema } from "../../schema/schema.ts";
import type { StepDefinition } from "../definition-parts.ts";
import { payloadRuleOf } from "../payload-rule.ts";
import { knownWaitOutput, type WaitOutputBudget } from "./wait-output.ts";

/**
 * The schemas of the output of a step that makes no output of its own. That output is the received value, or the part of it that is passed on. A wait
 * step adds the properties that events brought. The received value fits each of `receivedSchemas`.
 */
export function passedOn(
  receivedSchemas: readonly Schema[],
  step: StepDefinition,
  budget: WaitOutputBudget,
): readonly Schema[] {
  const received = [...receivedSchemas, step.inputSchema];
  const rule = payloadRuleOf(step);
  if (rule !== undefined) return [knownWaitOutput(received, step, rule, budget)];
  if (step.work.kind !== "wait" || !isClosed(step.outputSchema)) return received;
  const known = new Known(received);
  const names = [...declaredProperties(step.outputSchema)];
  const kept = names.filter((name) => known.mayHave(name));
  const schemas = new Map(kept.map((name) => [name, allOfSchemas(known.property(name))]));
  return [
    closedObject(
      schemas,
      names.filter((name) => known.requires(name)),
      known.types,
    ),
  ];
}
