import type { JsonObject, JsonValue } from "../json/json.ts";
import type { Problem } from "../problem.ts";

/**
 * What `core` knows of an executor. The engine's executors extend it with the function that makes the call; a list of
 * them is the catalog that definitions are checked against.
 *
 * - `pass`: the output is the input; nothing outside is called.
 * - `wait`: the step waits for events.
 * - `call`: the engine owes the outside a call, and the outcome comes back as a fact.
 */
export type ExecutorKind = PassKind | WaitKind | CallKind;

interface Kind {
  /** For example "/service/noop". */
  readonly type: string;
  /** A schema in the dialect of `schema.ts` that a step's `config` must satisfy. Its descriptions are what the API and the editor say of each field. */
  readonly configSchema: JsonObject;
  /** What the schema cannot say. Pointers are relative to the config. */
  readonly checkConfig?: (config: JsonObject) => readonly Problem[];
}

export interface PassKind extends Kind {
  readonly behaviour: "pass";
}

export interface WaitKind extends Kind {
  readonly behaviour: "wait";
  /** Called with a config that fits `configSchema` and `checkConfig`. */
  readonly waitRule: (config: JsonObject) => WaitRule;
}

export interface CallKind extends Kind {
  readonly behaviour: "call";
  /** The timeout of one attempt in milliseconds, where the config has one. Called with a config that fits `configSchema` and `checkConfig`. */
  readonly timeoutMsOf?: (config: JsonObject) => number | undefined;
}

/** What a wait step waits for: it goes on when `requiredCount` of `eventIds` are here. */
export interface WaitRule {
  readonly eventIds: readonly string[];
  readonly requiredCount: number;
  readonly timeoutMs?: number;
  /** By event id: the `$ref` of the definition that the event's payload must satisfy. */
  readonly payloadDefinitions?: Readonly<Record<string, JsonValue>>;
}

export type ExecutorCatalog = ReadonlyMap<string, ExecutorKind>;
