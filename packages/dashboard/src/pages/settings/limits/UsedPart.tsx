import { type ReactNode, useId } from "react";
import { texts } from "../../../texts/texts.ts";

interface UsedPartProps {
  readonly name: string;
  readonly detail: string;
  readonly used: number;
  readonly limit: number | undefined;
  readonly children: ReactNode;
}

/** One limit: its name, a bar of how much of it is used, and the same in words. */
export function UsedPart({ name, detail, used, limit, children }: UsedPartProps) {
  const id = useId();
  return (
    <div className="limit">
      <p id={id}>
        <strong>{name}</strong>: {detail}
      </p>
      {limit !== undefined && <progress aria-labelledby={id} value={Math.min(used, limit)} max={Math.max(limit, 1)} />}
      <p className="soft">
        {children} {limit !== undefined && state(used, limit)}
      </p>
    </div>
  );
}

function state(used: number, limit: number) {
  const words = texts.limits;
  if (used >= limit && limit > 0) return <strong>({words.usedUp})</strong>;
  return used > 0 && used >= limit * 0.8 && <strong>({words.nearlyUsed})</strong>;
}
