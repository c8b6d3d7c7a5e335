import type { Template } from "../expression/expression.ts";
import type { Schema } from "../schema/schema.ts";
import type { FailureHandler } from "./failures/failure-handlers.ts";
import type { StepWork } from "./step-work.ts";
import type { Transition } from "./transition.ts";

/** A valid workflow definition. */
export interface Definition {
  readonly workflowName: string;
  /** The time that a job may run. */
  readonly timeoutMs: number | undefined;
  readonly steps: Steps;
  readonly schemas: ReadonlyMap<string, Schema>;
}

/** The steps of a definition, at least one; a job starts with the first. */
export type Steps = readonly [StepDefinition, ...StepDefinition[]];

export interface StepDefinition {
  readonly name: string;
  /** The type of an executor in the catalog. */
  readonly type: string;
  readonly work: StepWork;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
  /** The template of the step's input. Without it, the input definition decides what the step receives. */
  readonly input: Template | undefined;
  /** The template that makes the step's output from its raw result. */
  readonly output: Template | undefined;
  readonly transitionToStep: Transition;
  /**
   * The handlers of failures. After an error, the first matching handler takes over. When no handler matches, the job fails; in a branch, the branch
   * fails.
   */
  readonly onFailure: readonly FailureHandler[];
}
