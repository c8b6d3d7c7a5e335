import { parseTemplate } from "../../expression/expression.ts";
import { anything } from "../../schema/node.ts";
import type { StepDefinition, Steps } from "../definition-parts.ts";
import type { Region } from "../graph/regions.ts";
import type { ForkWork, NodeCallWork } from "../step-work.ts";

/**
 * Adds one step at the beginning of each branch. The added steps come after all other steps in the list. The output of an added step is the value
 * with which the branch begins. So the analyses treat the item of a forEach, or the input of a parallel step, like the output of any step.
 */
export function withBranchStarts(steps: Steps): Steps {
  const forks = steps.filter(({ work }) => work.kind === "fork");
  if (forks.length === 0) return steps;
  const names = new Set(steps.map(({ name }) => name));
  const starts: StepDefinition[] = [];
  const startOf = (fork: StepDefinition & { readonly work: ForkWork }, step: string, branch?: string): string => {
    const isBody = branch === undefined;
    const name = freeName(isBody ? `item of ${fork.name}` : `start of ${branch}`, names);
    starts.push({ ...beginning(fork, isBody), name, transitionToStep: step });
    return name;
  };
  const [first, ...others] = steps.map((step): StepDefinition => {
    const { work } = step;
    if (work.kind !== "fork") return step;
    const { rule } = work;
    const fork = { ...step, work };
    const begun =
      rule.kind === "items"
        ? { ...rule, step: startOf(fork, rule.step) }
        : {
            ...rule,
            branches: rule.branches.map((branch) => ({ ...branch, step: startOf(fork, branch.step, branch.name) })),
          };
    return { ...step, work: { ...work, rule: begun } };
  }) as [StepDefinition, ...StepDefinition[]];
  return [first, ...others, ...starts];
}

/** The type of the added steps. No executor has this type. */
export const branchStart = "";

/** The indexes of the forEach steps around a step, innermost first. */
export function loopsAround(region: Region | undefined, steps: Steps): number[] {
  const loops: number[] = [];
  for (let one = region; one?.fork !== undefined; one = one.around) {
    const work = steps[one.fork]?.work;
    if (work?.kind === "fork" && work.rule.kind === "items") loops.push(one.fork);
  }
  return loops;
}

function beginning(
  fork: StepDefinition & { readonly work: ForkWork },
  isBody: boolean,
): Omit<StepDefinition, "name" | "transitionToStep"> {
  const common = { type: branchStart, input: undefined, output: undefined, onFailure: [] };
  const schemas = { inputSchema: anything, outputSchema: anything };
  if (isBody) return { ...common, ...schemas, work: ownOutput, output: theItem };
  // When the fork has a template for its input, the properties of its input do not come from an earlier step.
  if (fork.input !== undefined) return { ...common, ...schemas, work: ownOutput };
  return { ...common, work: { kind: "pass" }, inputSchema: fork.inputSchema, outputSchema: fork.inputSchema };
}

const ownOutput: NodeCallWork = {
  kind: "call",
  by: "node",
  config: {},
  openConfig: undefined,
  resultSchema: undefined,
  retry: undefined,
  timeoutMs: undefined,
};

const parsedItem = parseTemplate("${ item }");
if ("problems" in parsedItem) throw new Error("The expression of an item is wrong.");
const theItem = parsedItem.template;

function freeName(wanted: string, names: Set<string>): string {
  let name = wanted;
  while (names.has(name)) name += "'";
  names.add(name);
  return name;
}
