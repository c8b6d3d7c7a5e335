import type { RawObject } from "../json/raw-object.ts";
import { quoted } from "../problem.ts";
import type { ExecutorKind } from "./executor-kind.ts";
import type { RetryPolicy } from "./retry.ts";

const maxAttempts = 100;
const dayInSeconds = 86_400;
const maxBackoffRate = 10;
/** A year, of an attempt or of a wait. */
export const maxTimeoutSeconds = 31_536_000;

/** Reads `retry`, with the defaults of the fields that are left out. A step without `retry` has no policy. */
export function readRetry(step: RawObject, kind: ExecutorKind | undefined): RetryPolicy | undefined {
  if (step.fields.retry === undefined) return undefined;
  if (kind !== undefined && kind.behaviour !== "call") {
    step.refuse(
      "retry",
      `a step of type ${quoted(kind.type)} calls nothing, so that there is nothing to try again; leave it out`,
    );
    return undefined;
  }
  const raw = step.object("retry");
  if (raw === undefined) return undefined;
  raw.refuseUnknown(retryFields, "a field of `retry`");
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
  return {
    maxAttempts:
      raw.numberWhere("maxAttempts", isCount, `a whole number from 1 to ${maxAttempts}`) ?? defaults.maxAttempts,
    initialIntervalSeconds,
    backoffRate: raw.numberWhere("backoffRate", isRate, `a number from 1 to ${maxBackoffRate}`) ?? defaults.backoffRate,
    // Who asks for a longer first interval did not mean it to be cut by a default.
    maxIntervalSeconds: maxIntervalSeconds ?? Math.max(initialIntervalSeconds, defaults.maxIntervalSeconds),
    jitter: raw.boolean("jitter") ?? defaults.jitter,
  };
}

const defaults: RetryPolicy = {
  maxAttempts: 3,
  initialIntervalSeconds: 1,
  backoffRate: 2,
  maxIntervalSeconds: 60,
  jitter: true,
};
const retryFields: ReadonlySet<string> = new Set(Object.keys(defaults));

/**
 * Reads `timeoutSeconds`: of one attempt of a call, or of a whole wait. A wait keeps the timeout of its config in its rule; a call has one
 * timeout, so that the one of its config is answered in place of the step's.
 */
export function readTimeout(
  step: RawObject,
  kind: ExecutorKind | undefined,
  configTimeoutMs: number | undefined,
): number | undefined {
  if (step.fields.timeoutSeconds === undefined) {
    return kind?.behaviour === "call" && configTimeoutMs !== undefined ? configTimeoutMs / 1000 : undefined;
  }
  if (kind?.behaviour === "pass") {
    step.refuse(
      "timeoutSeconds",
      `a step of type ${quoted(kind.type)} is done at once, so that it has no timeout; leave it out`,
    );
    return undefined;
  }
  if (configTimeoutMs !== undefined) {
    step.refuse("timeoutSeconds", "the step's `config` has a timeout already; give one of the two");
    return undefined;
  }
  const isRight = (value: number) => value > 0 && value <= maxTimeoutSeconds;
  return step.numberWhere(
    "timeoutSeconds",
    isRight,
    `a number of seconds above 0 and at most ${maxTimeoutSeconds} (a year)`,
  );
}
