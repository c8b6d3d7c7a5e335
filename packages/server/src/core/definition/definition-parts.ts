import type { Template } from "../expression/expression.ts";
import type { Schema } from "../schema/schema.ts";
import type { FailureHandler } from "./failure-handlers.ts";
import type { StepWork } from "./step-work.ts";
import type { Transition } from "./transition.ts";

/** A workflow definition that was found valid. */
export interface Definition {
  readonly workflowName: string;
  /** The time that a job may run. */
  readonly timeoutMs: number | undefined;
  readonly steps: Steps;
  readonly schemas: ReadonlyMap<string, Schema>;
}

/** At least one; a job starts with the first. */
export type Steps = readonly [StepDefinition, ...StepDefinition[]];

export interface StepDefinition {
  readonly name: string;
  /** A type of the catalog. */
  readonly type: string;
  readonly work: StepWork;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
  /** The template of what the step receives; without it, the rule of its input definition decides. */
  readonly input: Template | undefined;
  /** The template of what the step gives, made from its raw result. */
  readonly output: Template | undefined;
  readonly transitionToStep: Transition;
  /** The handlers of failures: the first that is for an error takes over after it; with none of them the job fails. */
  readonly onFailure: readonly FailureHandler[];
}
