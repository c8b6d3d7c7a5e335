import type { Definition } from "./definition.ts";
import type { ExecutorCatalog, WaitRule } from "./executor-kind.ts";
import type { JsonObject } from "./json.ts";
import type { RetryPolicy } from "./retry.ts";
import type { Schema } from "./schema.ts";

/** A definition, compiled: everything the state machine asks while a job runs. Immutable, cached by version. */
export interface Plan {
  readonly workflowName: string;
  readonly steps: ReadonlyMap<string, PlanStep>;
  readonly firstStep: PlanStep;
  /** Every event id that some wait step of this version lists. */
  readonly listedEventIds: ReadonlySet<string>;
}

export interface PlanStep {
  readonly name: string;
  readonly type: string;
  readonly config: JsonObject;
  readonly behaviour: "pass" | "wait" | "call";
  /** Only with behaviour "wait". */
  readonly wait: WaitRule | undefined;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
  /**
   * The declared properties when the input definition is closed (`additionalProperties: false`, resolved through $ref);
   * undefined when it is open: then the step receives the previous output whole.
   */
  readonly inputProperties: readonly string[] | undefined;
  /** The next step's name; null ends the job. */
  readonly transitionToStep: string | null;
  /** Where a failure leads; undefined fails the job. */
  readonly onFailure: string | undefined;
  readonly retry: RetryPolicy | undefined;
  readonly timeoutMs: number | undefined;
  /**
   * Names of properties that some step after this one (this one itself included when a loop leads back) may still take
   * from outputs made up to and including this step: what the job's state must carry on from here.
   */
  readonly livePropertiesAfter: ReadonlySet<string>;
  /** True when this step's failure leads to a step with an open input definition: it will receive the last output there is. */
  readonly failureReadsLastOutput: boolean;
}

/** Compiles a definition that `parseDefinition` found valid. */
export function compilePlan(definition: Definition, executors: ExecutorCatalog): Plan {
  throw new Error(`not written: ${definition.workflowName} ${executors.size}`);
}
