/**
 * The functions that each signal calls when it is aborted. They share one listener, because Node.js warns of a leak when one signal has more than ten
 * listeners, and a program may give the same signal to hundreds of calls.
 */
const endings = new WeakMap<AbortSignal, { readonly ends: Set<() => void>; readonly listen: () => void }>();

/** Calls `end` when the signal is aborted, unless the returned function is called before. */
export function onAbort(signal: AbortSignal | undefined, end: () => void): () => void {
  if (signal === undefined) return () => {};
  const { ends, listen } = endings.get(signal) ?? begin(signal);
  ends.add(end);
  return () => {
    ends.delete(end);
    if (ends.size > 0) return;
    signal.removeEventListener("abort", listen);
    endings.delete(signal);
  };
}

function begin(signal: AbortSignal) {
  const ends = new Set<() => void>();
  const listen = () => {
    for (const end of [...ends]) end();
  };
  const ending = { ends, listen };
  signal.addEventListener("abort", listen, { once: true });
  endings.set(signal, ending);
  return ending;
}
