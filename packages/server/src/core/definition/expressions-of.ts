import type { Expression, Reference, Template } from "../expression/expression.ts";
import type { OpenFields } from "./config-template.ts";
import type { StepDefinition } from "./definition-parts.ts";
import type { StepWork } from "./step-work.ts";
import { isChoice } from "./transition.ts";

/** Lists what the expressions of a step read from the scope, even if they read it only in some cases. */
export function referencesOf(step: StepDefinition): readonly Reference[] {
  return [...templatesOf(step), ...conditionsOf(step)].flatMap(({ references }) => references);
}

export function templatesOf({ input, output, work }: StepDefinition): readonly Template[] {
  return [input, output, openFieldsOf(work)?.template].flatMap((template) => template ?? []);
}

export function conditionsOf({ transitionToStep }: StepDefinition): readonly Expression[] {
  return isChoice(transitionToStep) ? transitionToStep.options.map(({ condition }) => condition) : [];
}

/** The fields of a step's config that have expressions; undefined when there are none. */
export function openFieldsOf(work: StepWork): OpenFields | undefined {
  switch (work.kind) {
    case "pass":
      return undefined;
    case "wait":
      return work.openRule;
    case "delay":
      return "template" in work.delay ? work.delay : undefined;
    case "call":
      if (work.by === "node") return work.openConfig;
      return "template" in work.terms ? work.terms : undefined;
    case "fork":
      return "template" in work.items ? work.items : undefined;
  }
}
