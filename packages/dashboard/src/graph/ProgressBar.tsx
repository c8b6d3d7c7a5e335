import "./ProgressBar.css";
import type { ForkProgress } from "./step-look.ts";

/** A bar that shows how many of a step's branches are done, failed, cancelled and open. The numbers are beside it as text. */
export function ProgressBar({ progress }: { readonly progress: ForkProgress }) {
  const { all } = progress;
  return (
    <span className="progress-bar" aria-hidden="true">
      {parts.map((part) => (
        <span
          key={part}
          className={`progress-bar-${part}`}
          style={{ width: `${(progress[part] / Math.max(1, all)) * 100}%` }}
        />
      ))}
    </span>
  );
}

const parts = ["failed", "succeeded", "cancelled", "open"] as const;
