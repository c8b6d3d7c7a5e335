import type { JsonObject, JsonValue } from "../json/json.ts";
import type { RawObject } from "../json/raw-object.ts";
import { pointerTo, quoted } from "../problem.ts";
import { parseSchema, type Schema } from "../schema/schema.ts";
import { type OpenFields, type Resolvable, readConfigTemplate } from "./config-template.ts";
import { type ConfigSurroundings, configProblems, isConfigRight, readConfig } from "./definition-config.ts";
import { isLongerThan } from "./definition-name.ts";
import { readRetry, readTimeoutMs } from "./definition-timeouts.ts";
import type { Delay } from "./delay.ts";
import type {
  CallKind,
  ChildTerms,
  DelayKind,
  ExecutorKind,
  ForkKind,
  JobKind,
  TaskKind,
  TaskTerms,
  WaitKind,
  WaitRule,
} from "./executor-kind.ts";
import { noPayloadSchemas, readPayloadSchemas } from "./payload-schemas.ts";
import type { ChildWork, ForkWork, NodeCallWork, StepWork, TaskWork, WaitWork } from "./step-work.ts";

interface WorkSurroundings extends ConfigSurroundings {
  readonly limits: { readonly maxNameLength: number; readonly maxEventIdsPerStep: number };
  /** Undefined when `definitions` is missing or is not an object. */
  readonly schemas: ReadonlyMap<string, Schema> | undefined;
}

/**
 * Reads the work of a step. `details` are its `integrationDetails`. When the step's type is unknown, `kind` and the result are undefined. When
 * the step is a fork and its config has problems, the result is undefined too. When the config of any other kind of step has problems, the result has
 * placeholders for what could not be read, so that the rest of the definition is checked.
 */
export function readWork(
  step: RawObject,
  details: RawObject | undefined,
  kind: ExecutorKind | undefined,
  surroundings: WorkSurroundings,
): StepWork | undefined {
  const parts = { step, details, ...readConfigOf(details, kind, surroundings), surroundings };
  switch (kind?.behaviour) {
    case "pass":
      readRetry(step, kind, surroundings);
      readTimeoutMs(step, kind, undefined);
      return { kind: "pass" };
    case "wait":
      return readWait(kind, parts);
    case "delay":
      readRetry(step, kind, surroundings);
      readTimeoutMs(step, kind, undefined);
      return { kind: "delay", delay: readDelayOf(kind, parts) };
    case "call":
      return readCall(kind, parts);
    case "task":
      return readTask(kind, parts);
    case "job":
      return readChild(kind, parts);
    case "fork":
      readRetry(step, kind, surroundings);
      readTimeoutMs(step, kind, undefined);
      return readFork(kind, parts);
    case undefined:
      readRetry(step, undefined, surroundings);
      readTimeoutMs(step, undefined, undefined);
      return undefined;
  }
}

interface Parts {
  readonly step: RawObject;
  readonly details: RawObject | undefined;
  readonly config: JsonObject;
  readonly open: OpenFields | undefined;
  readonly places: ReadonlySet<string>;
  /** Whether the config passed the checks of its executor, now or when the version was registered. The executor reads only a config that passed. */
  readonly isRight: boolean;
  readonly surroundings: WorkSurroundings;
}

function readConfigOf(
  details: RawObject | undefined,
  kind: ExecutorKind | undefined,
  surroundings: WorkSurroundings,
): Pick<Parts, "config" | "open" | "places" | "isRight"> {
  const raw = details && readConfig(details);
  if (details === undefined || raw === undefined || kind === undefined) {
    return { config: {}, open: undefined, places: new Set(), isRight: false };
  }
  const pointer = details.pointerTo("config");
  const { config, open, places, isRead } = readConfigTemplate(kind, raw, pointer, surroundings);
  const isRight = surroundings.isRegistered || isConfigRight(kind, config, pointer, surroundings, places);
  return { config, open, places, isRight: isRight && isRead };
}

/** Makes a value that is resolved later. When the expressions have values, the executor checks the whole config again. */
function resolvable<Value>(
  kind: ExecutorKind,
  open: OpenFields,
  { config, surroundings }: Parts,
  read: (config: JsonObject) => Value,
): Resolvable<Value> {
  const { executors } = surroundings;
  return {
    ...open,
    resolve: (fields) => {
      const whole = { ...config, ...fields };
      const problems = configProblems(kind, whole, executors);
      return problems.length > 0 ? { problems } : read(whole);
    },
  };
}

function readDelayOf(kind: DelayKind, parts: Parts): Delay | Resolvable<Delay> {
  const { config, open, isRight } = parts;
  if (open !== undefined) return resolvable(kind, open, parts, (whole) => kind.delayOf(whole));
  return isRight ? kind.delayOf(config) : noDelay;
}

function readWait(kind: WaitKind, parts: Parts): WaitWork {
  const { step, details, config, open, places, isRight, surroundings } = parts;
  const whole = isRight ? kind.waitRule(config) : noRule;
  const ruleOfConfig =
    open === undefined ? whole : { ...whole, eventIds: constantIds(config.eventIds, places), isOpen: true };
  const pointer = details?.pointerTo("config") ?? "";
  checkEventIds(ruleOfConfig, pointer, surroundings);
  if (!surroundings.isRegistered) refusePayloadsOfOpenIds(ruleOfConfig, pointer, surroundings);
  readRetry(step, kind, surroundings);
  const timeoutMs = readTimeoutMs(step, kind, ruleOfConfig.timeoutMs);
  const rule = timeoutMs === undefined ? ruleOfConfig : { ...ruleOfConfig, timeoutMs };
  const { schemas, problems } = surroundings;
  const payloadSchemas =
    schemas === undefined
      ? noPayloadSchemas
      : readPayloadSchemas(rule, schemas, `${pointer}/payloadDefinitions`, problems);
  const timeout = timeoutMs === undefined ? {} : { timeoutMs };
  const openRule = open && resolvable(kind, open, parts, (one) => ({ ...kind.waitRule(one), ...timeout }));
  return { kind: "wait", rule, openRule, payloadSchemas };
}

/** The ids in the list that are written out, and not given by an expression. */
function constantIds(eventIds: JsonValue | undefined, places: ReadonlySet<string>): string[] {
  if (!Array.isArray(eventIds)) return [];
  return eventIds.flatMap((id, index) => (typeof id === "string" && !places.has(`/eventIds/${index}`) ? id : []));
}

const noDelay: Delay = { ms: 0 };
const noRule: WaitRule = { eventIds: [], requiredCount: 0 };

function readCall(kind: CallKind, { step, config, open, isRight, surroundings }: Parts): NodeCallWork {
  const timeoutOfConfig = isRight ? kind.timeoutMsOf?.(config) : undefined;
  const retry = readRetry(step, kind, surroundings);
  return {
    kind: "call",
    by: "node",
    config,
    openConfig: open,
    resultSchema: resultSchemaOf(kind),
    retry,
    timeoutMs: readTimeoutMs(step, kind, timeoutOfConfig),
  };
}

function readTask(kind: TaskKind, parts: Parts): TaskWork {
  const { step, surroundings } = parts;
  return {
    kind: "call",
    by: "worker",
    terms: readTerms(kind, parts),
    resultSchema: undefined,
    retry: readRetry(step, kind, surroundings),
    timeoutMs: readTimeoutMs(step, kind, undefined),
  };
}

function readTerms(kind: TaskKind, parts: Parts): TaskTerms | Resolvable<TaskTerms> {
  const { config, open, isRight } = parts;
  if (open !== undefined) return resolvable(kind, open, parts, (whole) => kind.taskTerms(whole));
  return isRight ? kind.taskTerms(config) : noTerms;
}

const noTerms: TaskTerms = { queue: "", priority: 0, heartbeatMs: 1 };

function readChild(kind: JobKind, parts: Parts): ChildWork {
  const { step, config, open, isRight, surroundings } = parts;
  const whole = isRight ? kind.childTerms(config) : noChild;
  return {
    kind: "call",
    by: "job",
    terms: open === undefined ? whole : resolvable(kind, open, parts, (one) => kind.childTerms(one)),
    isAwaited: whole.isAwaited,
    resultSchema: whole.isAwaited ? undefined : schemaOf(begunChildSchema, kind),
    retry: readRetry(step, kind, surroundings),
    timeoutMs: readTimeoutMs(step, kind, undefined),
  };
}

const noChild: ChildTerms = { workflow: "", version: { tag: "" }, isAwaited: true };

/** The schema of a step's result when the step does not wait for its child. */
const begunChildSchema: JsonObject = {
  type: "object",
  properties: { jobId: { type: "string", format: "uuid" } },
  required: ["jobId"],
  additionalProperties: false,
};

/** Reads a fork. The work is undefined when the config is wrong, because the first steps of the branches are then unknown. */
function readFork(kind: ForkKind, parts: Parts): ForkWork | undefined {
  const { config, open, isRight } = parts;
  if (!isRight) return undefined;
  const rule = kind.forkRule(config);
  const itemsOf = ({ items }: JsonObject) => ({ items: Array.isArray(items) ? items : [] });
  const items = open === undefined ? itemsOf(config).items : resolvable(kind, open, parts, itemsOf);
  return { kind: "fork", rule, items };
}

function resultSchemaOf(kind: CallKind): Schema | undefined {
  return kind.resultSchema === undefined ? undefined : schemaOf(kind.resultSchema, kind);
}

function schemaOf(written: JsonObject, { type }: ExecutorKind): Schema {
  const known = resultSchemas.get(written);
  if (known !== undefined) return known;
  const parsed = parseSchema(written);
  if ("problems" in parsed) throw new Error(`The result schema of ${type} is wrong.`);
  resultSchemas.set(written, parsed.schema);
  return parsed.schema;
}

/** The executors' schemas never change, so they are parsed once. */
const resultSchemas = new WeakMap<JsonObject, Schema>();

/** The limits apply to every executor that waits, whatever its schema allows. */
function checkEventIds({ eventIds }: WaitRule, pointer: string, { limits, problems }: WorkSurroundings): void {
  if (eventIds.length > limits.maxEventIdsPerStep) {
    problems.add(pointer, `lists ${eventIds.length} event ids; a step may wait for ${limits.maxEventIdsPerStep}`);
  }
  const long = eventIds.find((eventId) => isLongerThan(eventId, limits.maxNameLength));
  if (long !== undefined)
    problems.add(pointer, `the event id ${quoted(long)} is longer than ${limits.maxNameLength} characters`);
}

/**
 * Refuses payload definitions for event ids that expressions give. The key of such a definition is the text of the expression, as in `eventIds`. The
 * wait would fail: the config is checked again when the expression has a value, and `eventIds` then has this value instead of the text.
 */
function refusePayloadsOfOpenIds(
  { eventIds, isOpen = false, payloadDefinitions = {} }: WaitRule,
  pointer: string,
  { problems }: WorkSurroundings,
): void {
  if (!isOpen) return;
  const detail = "is for an id that an expression gives, which is known only when a job runs";
  for (const eventId of Object.keys(payloadDefinitions)) {
    if (eventIds.includes(eventId)) continue;
    const place = pointerTo(`${pointer}/payloadDefinitions`, eventId);
    problems.add(place, `${detail}; only an id without an expression can have a definition`);
  }
}
