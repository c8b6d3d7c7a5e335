import type { RawObject } from "../json/raw-object.ts";
import { quoted } from "../problem.ts";
import type { ExecutorKind } from "./executor-kind.ts";
import { type ErrorNameSurroundings, readErrorNames } from "./failures/error-names.ts";
import type { RetryPolicy } from "./failures/retry.ts";
import { retryWords } from "./familiar/familiar-words.ts";

const maxAttempts = 100;
const dayInSeconds = 86_400;
const maxBackoffRate = 10;
/** A year: the maximum for an attempt, a wait and a whole job. */
export const maxTimeoutSeconds = 31_536_000;

const retried: ReadonlySet<ExecutorKind["behaviour"]> = new Set(["call", "task", "job"]);

/** Reads `retry`, and fills in the defaults of missing fields. A step without `retry` has no policy. */
export function readRetry(
  step: RawObject,
  kind: ExecutorKind | undefined,
  surroundings: ErrorNameSurroundings,
): RetryPolicy | undefined {
  if (step.fields.retry === undefined) return undefined;
  if (kind !== undefined && !retried.has(kind.behaviour)) {
    const why =
      kind.behaviour === "fork"
        ? "is not tried again as a whole; give `retry` to the steps of its branches"
        : "calls nothing, so there is nothing to try again; leave out `retry`";
    step.refuse("retry", `a step of type ${quoted(kind.type)} ${why}`);
    return undefined;
  }
  const raw = step.object("retry");
  if (raw === undefined) return undefined;
  raw.refuseUnknown(retryFields, "a field of `retry`", retryWords);
  const isCount = (value: number) => Number.isInteger(value) && value >= 1 && value <= maxAttempts;
  const isInterval = (value: number) => value > 0 && value <= dayInSeconds;
  const isRate = (value: number) => value >= 1 && value <= maxBackoffRate;
  const interval = `a number of seconds above 0 and at most ${dayInSeconds}`;
  const initialIntervalSeconds =
    raw.numberWhere("initialIntervalSeconds", isInterval, interval) ?? defaults.initialIntervalSeconds;
  const maxIntervalSeconds = raw.numberWhere("maxIntervalSeconds", isInterval, interval);
  if (maxIntervalSeconds !== undefined && maxIntervalSeconds < initialIntervalSeconds) {
    raw.refuse("maxIntervalSeconds", "is less than the first interval, `initialIntervalSeconds`");
  }
  const on = readErrorNames(raw, neverRetried, surroundings);
  return {
    maxAttempts:
      raw.numberWhere("maxAttempts", isCount, `a whole number from 1 to ${maxAttempts}`) ?? defaults.maxAttempts,
    initialIntervalSeconds,
    backoffRate: raw.numberWhere("backoffRate", isRate, `a number from 1 to ${maxBackoffRate}`) ?? defaults.backoffRate,
    // The default maximum must not shorten a longer first interval.
    maxIntervalSeconds: maxIntervalSeconds ?? Math.max(initialIntervalSeconds, defaults.maxIntervalSeconds),
    jitter: raw.boolean("jitter") ?? defaults.jitter,
    ...(on !== undefined && { on }),
  };
}

const defaults: RetryPolicy = {
  maxAttempts: 3,
  initialIntervalSeconds: 1,
  backoffRate: 2,
  maxIntervalSeconds: 60,
  jitter: true,
};
const retryFields: ReadonlySet<string> = new Set([...Object.keys(defaults), "on"]);

const wouldFailAgain = "is never tried again, since the call would fail again; remove this name";
/** The codes that `on` of a retry policy may not name, each with the reason. */
export const neverRetried: ReadonlyMap<string, string> = new Map([
  ["InputMismatch", wouldFailAgain],
  ["OutputMismatch", wouldFailAgain],
  ["ExpressionFailed", wouldFailAgain],
  ["StepLimitExceeded", wouldFailAgain],
  ["ValueLimitExceeded", wouldFailAgain],
  ["TooManyChildren", wouldFailAgain],
]);

/**
 * Reads the timeout of one attempt of a call, or of a whole wait, in milliseconds. A step has at most one timeout: either its own `timeoutSeconds`,
 * or a field of its config, which each executor names in its own way.
 */
export function readTimeoutMs(
  step: RawObject,
  kind: ExecutorKind | undefined,
  configTimeoutMs: number | undefined,
): number | undefined {
  if (step.fields.timeoutSeconds === undefined)
    return configTimeoutMs === undefined ? undefined : atLeastOne(configTimeoutMs);
  if (kind?.behaviour === "pass" || kind?.behaviour === "delay" || kind?.behaviour === "fork") {
    const why = untimedWork[kind.behaviour];
    step.refuse(
      "timeoutSeconds",
      `a step of type ${quoted(kind.type)} ${why}, so it has no timeout; leave out \`timeoutSeconds\``,
    );
    return undefined;
  }
  if (configTimeoutMs !== undefined) {
    step.refuse("timeoutSeconds", "the step's `config` has a timeout already; give only one of the two");
    return undefined;
  }
  return readTimeoutSeconds(step);
}

const untimedWork = {
  pass: "is done at once",
  delay: "lasts as long as its config says",
  fork: "ends with its branches, whose steps have timeouts of their own",
} as const;

/** Reads the definition's own `timeoutSeconds`, the time that a job may run, in milliseconds. */
export function readJobTimeoutMs(definition: RawObject): number | undefined {
  return readTimeoutSeconds(definition);
}

function readTimeoutSeconds(raw: RawObject): number | undefined {
  const isRight = (value: number) => value > 0 && value <= maxTimeoutSeconds;
  const wanted = `a number of seconds above 0 and at most ${maxTimeoutSeconds} (a year)`;
  const seconds = raw.numberWhere("timeoutSeconds", isRight, wanted);
  return seconds === undefined ? undefined : atLeastOne(seconds * 1000);
}

/** A timeout below a millisecond becomes one millisecond. */
function atLeastOne(ms: number): number {
  return Math.max(1, Math.round(ms));
}
