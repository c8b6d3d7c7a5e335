import type { Config } from "../../config.ts";
import type { DefinitionLimits } from "../../core/definition/definition.ts";

/** What new definitions are held against. Those that are registered are not. */
export function definitionLimits(config: Config): DefinitionLimits {
  return {
    maxDefinitionBytes: config.maxDefinitionBytes,
    maxSteps: config.maxSteps,
    maxEventIdsPerStep: config.maxEventIdsPerStep,
    maxNameLength: config.maxNameLength,
    maxDepth: config.maxJsonDepth,
  };
}
