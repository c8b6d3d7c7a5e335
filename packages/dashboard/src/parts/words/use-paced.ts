import { useEffect, useRef, useState } from "react";

/** Returns the value, updated at most once in this interval. The first change is shown at once, and the last one is always shown. */
export function usePaced<Value>(value: Value, everyMs: number): Value {
  const [shown, setShown] = useState(value);
  const changedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (Object.is(value, shown)) return;
    const change = () => {
      changedAt.current = performance.now();
      setShown(value);
    };
    const timer = setTimeout(change, Math.max(0, changedAt.current + everyMs - performance.now()));
    return () => clearTimeout(timer);
  }, [value, shown, everyMs]);
  return shown;
}
