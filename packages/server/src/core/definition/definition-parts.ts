import type { JsonObject } from "../json/json.ts";
import type { Schema } from "../schema/schema.ts";
import type { ExecutorKind, WaitRule } from "./executor-kind.ts";
import type { PayloadSchemas } from "./payload-schemas.ts";
import type { RetryPolicy } from "./retry.ts";

/** A workflow definition that was found valid. */
export interface Definition {
  readonly workflowName: string;
  readonly steps: Steps;
  readonly schemas: ReadonlyMap<string, Schema>;
}

/** At least one; a job starts with the first. */
export type Steps = readonly [StepDefinition, ...StepDefinition[]];

export interface StepDefinition {
  readonly name: string;
  /** A type of the catalog, whose config schema `config` fits. */
  readonly type: string;
  readonly behaviour: ExecutorKind["behaviour"];
  readonly config: JsonObject;
  /** Only of a step that waits. */
  readonly wait: WaitRule | undefined;
  /** Only of a step that waits. */
  readonly payloadSchemas: PayloadSchemas;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
  readonly transitionToStep: string | null;
  readonly onFailure: string | undefined;
  /** Only of a step that calls, and only if the definition has one. */
  readonly retry: RetryPolicy | undefined;
  /** Only of a step that calls or waits. */
  readonly timeoutSeconds: number | undefined;
}
