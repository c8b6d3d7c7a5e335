import {
  type Finding,
  type TemplateProblem,
  type TemplateType,
  templateType,
  typeOf,
} from "../../expression/expression.ts";
import { type Problem, type ProblemList, pointerTo, quoted } from "../../problem.ts";
import type { SchemaComparison } from "../../schema/compare/compare.ts";
import { describeMisfit, type Misfit } from "../../schema/compare/outcome.ts";
import { newSchema, type Schema } from "../../schema/node.ts";
import { typeSets } from "../../schema/type-set.ts";
import type { StepDefinition } from "../definition-parts.ts";
import { addTemplateProblems } from "../definition-template.ts";
import { openFieldsOf } from "../expressions-of.ts";
import { isChoice } from "../transition.ts";
import type { TemplateTypes } from "./template-types.ts";

export interface Lists {
  readonly problems: ProblemList;
  readonly warnings: ProblemList;
}

/** Checks the expressions of one step: whether they can have a value, and whether that value fits its place. */
export class ExpressionChecks {
  readonly #types: TemplateTypes;
  readonly #comparison: SchemaComparison;
  readonly #lists: Lists;

  constructor(types: TemplateTypes, comparison: SchemaComparison, lists: Lists) {
    this.#types = types;
    this.#comparison = comparison;
    this.#lists = lists;
  }

  check(index: number, step: StepDefinition): void {
    const pointer = pointerTo("/steps", index);
    const input = this.#types.input(index);
    if (input !== undefined) {
      this.#tell(`${pointer}/input`, input);
      this.#compare(input, step.inputSchema, (misfit) => ({
        pointer: `${pointer}/input`,
        detail: `gives ${quoted(step.name)} a value ${misfitIn(misfit)}, according to its input definition`,
      }));
    }
    const output = this.#types.output(index);
    if (output !== undefined) {
      this.#tell(`${pointer}/output`, output);
      this.#compare(output, step.outputSchema, (misfit) => ({
        pointer: `${pointer}/output`,
        detail: `makes an output ${misfitIn(misfit)}, according to the output definition of ${quoted(step.name)}`,
      }));
    }
    this.#checkConfig(pointer, index, step);
    this.#checkChoice(pointer, index, step);
  }

  tellProblems(index: number): void {
    const pointer = pointerTo("/steps", index);
    for (const [field, type] of [
      ["input", this.#types.input(index)],
      ["output", this.#types.output(index)],
    ] as const)
      this.#tell(`${pointer}/${field}`, { problems: type?.problems ?? [], mayFail: [] });
  }

  #checkConfig(pointer: string, index: number, step: StepDefinition): void {
    const open = openFieldsOf(step.work);
    if (open === undefined) return;
    const place = `${pointer}/integrationDetails/config`;
    const type = templateType(open.template, this.#types.scopeOfConfig(index, step));
    this.#tell(place, type);
    this.#compare(type, open.expected, (misfit) => ({
      pointer: place + misfit.pointer,
      detail: describeMisfit(misfit),
    }));
  }

  #checkChoice(pointer: string, index: number, step: StepDefinition): void {
    const { transitionToStep } = step;
    if (!isChoice(transitionToStep)) return;
    const scope = this.#types.scopeOfChoice(index, step);
    for (const [option, { condition }] of transitionToStep.options.entries()) {
      const place = `${pointer}/transitionToStep/choose/${option}/if`;
      const { schema, problems, mayFail } = typeOf(condition, scope);
      const placed = ({ offset, message }: Finding) => ({ pointer: "", offset, detail: message });
      this.#tell(place, { problems: problems.map(placed), mayFail: mayFail.map(placed) });
      if (problems.length > 0) continue;
      const { allFit, noneFits } = this.#comparison.compare([schema], trueOrFalse);
      if (noneFits) this.#lists.problems.add(place, "is never true or false, but a condition must be one of the two");
      else if (!allFit) this.#lists.warnings.add(place, "may be neither true nor false, and the step would then fail");
    }
  }

  #tell(
    pointer: string,
    { problems, mayFail }: { problems: readonly TemplateProblem[]; mayFail: readonly TemplateProblem[] },
  ): void {
    addTemplateProblems(this.#lists.problems, pointer, problems);
    addTemplateProblems(this.#lists.warnings, pointer, mayFail);
  }

  /** Compares the possible values with the wanted schema. An expression without a possible value was already reported. */
  #compare(made: TemplateType, wanted: Schema, describe: (misfit: Misfit) => Problem): void {
    if (made.problems.length > 0) return;
    const { allFit, noneFits, misfits } = this.#comparison.compare([made.schema], wanted);
    if (allFit) return;
    for (const misfit of misfits) {
      const list = noneFits && misfit.isCertain ? this.#lists.problems : this.#lists.warnings;
      const { pointer, detail } = describe(misfit);
      list.add(pointer, detail);
    }
  }
}

/** Describes a misfit, for example "that is a number, but must be a string". For a misfit in a property, the text names the property. */
function misfitIn(misfit: Misfit): string {
  const subject = misfit.pointer === "" ? "that" : `whose ${quoted(misfit.pointer.slice(1))}`;
  return `${subject} ${describeMisfit(misfit)}`;
}

const trueOrFalse = newSchema({ types: typeSets.boolean });
