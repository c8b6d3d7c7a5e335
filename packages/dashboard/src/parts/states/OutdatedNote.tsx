import "./OutdatedNote.css";
import { texts } from "../../texts/texts.ts";

interface OutdatedNoteProps {
  readonly queries: readonly Outcome[];
}

interface Outcome {
  /** The time of the last answer; 0 while there is none. */
  readonly dataUpdatedAt: number;
  readonly errorUpdatedAt: number;
}

/**
 * Says that numbers are old, or missing, because the last request of one of their queries failed. The line exists from the start, since a region that
 * appears with its first message is not read out. The query's own `error` is not used: without an earlier answer, each new attempt clears it.
 */
export function OutdatedNote({ queries }: OutdatedNoteProps) {
  const isOutdated = queries.some(({ dataUpdatedAt, errorUpdatedAt }) => errorUpdatedAt > dataUpdatedAt);
  return (
    <p className="outdated-note" role="status">
      {isOutdated && texts.parts.outdated}
    </p>
  );
}
