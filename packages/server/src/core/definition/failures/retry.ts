import { isNamed, type NamedError } from "./error-names.ts";

/** The rules for trying a step's call again. All fields except `on` are set, because the parser has filled in the defaults. */
export interface RetryPolicy {
  /** The maximum number of attempts, including the first. */
  readonly maxAttempts: number;
  readonly initialIntervalSeconds: number;
  readonly backoffRate: number;
  readonly maxIntervalSeconds: number;
  readonly jitter: boolean;
  /** The codes or types of the errors after which the call is tried again. When the list is left out, all errors count. */
  readonly on?: readonly string[];
}

/**
 * Returns the policy for trying a call again after this error; undefined when the call is not tried again. `isTransient` says that the call was not
 * carried out, or does no harm when it is made twice. For such a call there is always a policy: if the step's policy does not name the error,
 * `transientPolicy` applies. It then gets the larger `maxAttempts` of the two policies, because attempts that failed with other errors count too.
 */
export function policyAfter(
  policy: RetryPolicy | undefined,
  error: NamedError,
  isTransient: boolean,
): RetryPolicy | undefined {
  if (policy !== undefined && isNamed(policy.on, error)) return policy;
  if (!isTransient) return undefined;
  return { ...transientPolicy, maxAttempts: Math.max(transientPolicy.maxAttempts, policy?.maxAttempts ?? 0) };
}

/**
 * Returns the milliseconds until the next attempt, or undefined when the policy gives up. `failedAttempts` includes the attempt that just failed;
 * `random` is from 0 up to 1. With jitter the wait is between half of the interval and the whole interval, so that jobs that failed together are not
 * retried together. `retryAfterMs` is the wait that the called side asked for. The result is at least this wait, or at least a day if the wait is
 * longer than a day.
 */
export function nextAttemptInMs(
  policy: RetryPolicy,
  failedAttempts: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  if (failedAttempts >= policy.maxAttempts) return undefined;
  const growing = policy.initialIntervalSeconds * policy.backoffRate ** (failedAttempts - 1);
  const seconds = Math.min(growing, policy.maxIntervalSeconds);
  const ownMs = Math.round(seconds * 1000 * (policy.jitter ? 0.5 + random / 2 : 1));
  return Math.max(ownMs, Math.min(retryAfterMs, maxRetryAfterMs));
}

/**
 * One day. Waiting for a quota that is renewed every night makes sense, but an answer that asks for a wait of a year must not stop a job for a year.
 * `maxIntervalSeconds` does not apply here. It bounds our own guess of a good interval, while the called side knows how long to wait.
 */
const maxRetryAfterMs = 24 * 60 * 60 * 1000;

/**
 * The policy for errors that the step's `retry` does not name. A throttled call or a short network failure should not fail a job. The policy applies
 * only to calls that were not carried out or do no harm when they are made twice. Any other error is final unless the step's own policy names it.
 */
export const transientPolicy: RetryPolicy = {
  maxAttempts: 3,
  initialIntervalSeconds: 1,
  backoffRate: 2,
  maxIntervalSeconds: 60,
  jitter: true,
};
