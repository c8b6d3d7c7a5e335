import { onAbort } from "./on-abort.ts";

/** Waits for `ms` milliseconds, or until the signal is aborted, whichever comes first. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      forget();
      resolve();
    };
    const timer = setTimeout(end, ms);
    const forget = onAbort(signal, end);
  });
}

/**
 * Returns the pause before the next attempt, in milliseconds: at most 0.2 s, 0.4 s, 0.8 s … 5 s. A part of it is random, so that many clients do not
 * come back at the same moment.
 */
export function backoffMs(failedAttempts: number, random: () => number = Math.random): number {
  const most = Math.min(200 * 2 ** (failedAttempts - 1), 5_000);
  return most * (0.5 + random() / 2);
}
