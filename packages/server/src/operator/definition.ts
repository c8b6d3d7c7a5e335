import type { Config } from "../config.ts";
import { type DefinitionFindings, definitionCheck } from "../engine/plans/definition-check.ts";

/** Checks a definition as a service with these settings would when somebody registers it; no service and no store is asked. */
export function checkDefinition(config: Config, text: string): DefinitionFindings {
  return definitionCheck(config)({ text });
}
