import type { Config } from "../../config.ts";
import { parseDefinition } from "../../core/definition/definition.ts";
import { type PlacedProblem, placeProblems } from "../../core/definition/placed-problem.ts";
import { compilePlan } from "../../core/plan/plan.ts";
import { quoted } from "../../core/problem.ts";
import { executorCatalog } from "../executors/catalog.ts";
import { definitionLimits } from "./definition-limits.ts";

/** The findings about a new definition: it is valid when there are no problems. */
export interface DefinitionFindings {
  readonly problems: PlacedProblem[];
  /** Warnings do not make the definition invalid. They tell, for example, of a problem that may occur when a job runs. */
  readonly warnings: PlacedProblem[];
}

export interface DefinitionToCheck {
  readonly text: string;
  /** The name of the workflow that is to get the version; undefined when it is not known. */
  readonly nameOfWorkflow?: string | undefined;
}

/** Returns the function that checks new definitions under these settings. The check runs in the calling thread. */
export function definitionCheck(config: Config): (toCheck: DefinitionToCheck) => DefinitionFindings {
  const executors = executorCatalog(config);
  const limits = definitionLimits(config);
  return ({ text, nameOfWorkflow }) => {
    const parsed = parseDefinition(text, executors, limits);
    if ("problems" in parsed) return { problems: parsed.problems, warnings: parsed.warnings };
    const { definition, warnings } = parsed;
    // Throws if a valid definition cannot be compiled, which would be a defect. Nodes would park the jobs of such a version, so it is not registered.
    compilePlan(definition);
    if (nameOfWorkflow === undefined || definition.workflowName === nameOfWorkflow) return { problems: [], warnings };
    const detail = `is not the name of the workflow, which is ${quoted(nameOfWorkflow)}; pages and messages show the workflow's name, and \`stepwell deploy\` would register the definition in another workflow`;
    return { problems: [], warnings: [...placeProblems(text, [{ pointer: "/workflowName", detail }]), ...warnings] };
  };
}
