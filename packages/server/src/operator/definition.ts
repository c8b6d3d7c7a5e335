import type { Config } from "../config.ts";
import { type DefinitionFindings, definitionCheck } from "../engine/plans/definition-check.ts";

/** Checks a definition as a service with these settings would check it at its registration, but without a service or a store. */
export function checkDefinition(config: Config, text: string): DefinitionFindings {
  return definitionCheck(config)({ text });
}
