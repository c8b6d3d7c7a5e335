import type { Config } from "../../config.ts";
import type { DefinitionLimits } from "../../core/definition/definition.ts";

/** The limits for new definitions. Registered definitions are not checked against them. */
export function definitionLimits(config: Config): DefinitionLimits {
  return {
    maxDefinitionBytes: config.maxDefinitionBytes,
    maxSteps: config.maxSteps,
    maxEventIdsPerStep: config.maxEventIdsPerStep,
    maxNameLength: config.maxNameLength,
    maxDepth: config.maxJsonDepth,
    maxOutputBytes: config.maxOutputBytes,
  };
}
