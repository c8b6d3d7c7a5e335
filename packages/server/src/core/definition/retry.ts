/** How often and how patiently a step's call is tried again. All fields are set: defaults were filled in when the definition was parsed. */
export interface RetryPolicy {
  /** The first attempt included. */
  readonly maxAttempts: number;
  readonly initialIntervalSeconds: number;
  readonly backoffRate: number;
  readonly maxIntervalSeconds: number;
  readonly jitter: boolean;
}

/**
 * Milliseconds until the next attempt, or undefined when the policy gives up. `failedAttempts` counts the one that just failed;
 * `random` is from 0 up to 1. With jitter the wait lies between half of the interval and the whole, so that jobs which failed
 * together do not come back together.
 */
export function nextAttemptInMs(policy: RetryPolicy, failedAttempts: number, random: number): number | undefined {
  if (failedAttempts >= policy.maxAttempts) return undefined;
  const growing = policy.initialIntervalSeconds * policy.backoffRate ** (failedAttempts - 1);
  const seconds = Math.min(growing, policy.maxIntervalSeconds);
  return Math.round(seconds * 1000 * (policy.jitter ? 0.5 + random / 2 : 1));
}

/**
 * For a step without a `retry`, and only for calls that were not carried out: a throttled call or a network that blinked should
 * fail no job. What the called side itself reports as an error is final without a policy.
 */
export const transientPolicy: RetryPolicy = {
  maxAttempts: 3,
  initialIntervalSeconds: 1,
  backoffRate: 2,
  maxIntervalSeconds: 60,
  jitter: true,
};
