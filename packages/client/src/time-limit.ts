import { onAbort } from "./on-abort.ts";

export interface TimeLimit {
  /** When it is aborted, `withinTime` rejects at once with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly ms?: number | undefined;
  /** Makes the error of work that takes longer than `ms`. */
  readonly late: () => Error;
}

/**
 * Does some work with a signal that is aborted when the caller's signal is aborted or the time is over. Rejects at that moment even if the work
 * ignores its signal: after a garbage collection, a request may no longer notice that its signal is aborted. (AbortSignal.any is not used: it came
 * with Node.js 20.3 and keeps its signals in memory.)
 */
export async function withinTime<Result>(
  { signal, ms, late }: TimeLimit,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const control = new AbortController();
  const over = new Promise<never>((_, reject) => {
    control.signal.addEventListener("abort", () => reject(control.signal.reason), { once: true });
  });
  const forget = onAbort(signal, () => control.abort(signal?.reason));
  const timer = ms === undefined ? undefined : setTimeout(() => control.abort(late()), ms);
  try {
    return await Promise.race([work(control.signal), over]);
  } finally {
    clearTimeout(timer);
    forget();
  }
}
