import { isNamed, type NamedError } from "./error-names.ts";

/** How often and how patiently a step's call is tried again. All fields but `on` are set: defaults were filled in when the definition was parsed. */
export interface RetryPolicy {
  /** The first attempt included. */
  readonly maxAttempts: number;
  readonly initialIntervalSeconds: number;
  readonly backoffRate: number;
  readonly maxIntervalSeconds: number;
  readonly jitter: boolean;
  /** The codes or types of the errors after which it tries again; left out: all. */
  readonly on?: readonly string[];
}

/**
 * The policy by which a call is tried again after this error; undefined when it is not. A call that was not carried out is always tried again:
 * where the step's policy does not name its error, as without a policy, but for as many attempts as the step's policy has if that
 * are more, since all failed attempts of a visit are counted together.
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
 * Milliseconds until the next attempt, or undefined when the policy gives up. `failedAttempts` counts the one that just failed;
 * `random` is from 0 up to 1. With jitter the wait lies between half of the interval and the whole, so that jobs which failed
 * together do not come back together. `retryAfterMs` is the wait that the called side asked for: the next attempt is not made before it.
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
 * One day: a quota that is renewed every night is worth waiting for, and an answer that names a year must not park a job for so long.
 * `maxIntervalSeconds` is no bound for it. It bounds our own guess of a good time, and the called side does not guess.
 */
const maxRetryAfterMs = 24 * 60 * 60 * 1000;

/**
 * The policy for errors that no `retry` of the step is for, and only for calls that were not carried out: a throttled call or a network that blinked should
 * fail no job. What the called side itself reports as an error is final without a policy.
 */
export const transientPolicy: RetryPolicy = {
  maxAttempts: 3,
  initialIntervalSeconds: 1,
  backoffRate: 2,
  maxIntervalSeconds: 60,
  jitter: true,
};
