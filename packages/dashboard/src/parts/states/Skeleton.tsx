import "./Skeleton.css";
import { texts } from "../../texts/texts.ts";

/** Fills the space of content that is being loaded, so that nothing jumps when the content appears. The skeleton appears only after a moment. */
export function Skeleton({ rows = 3 }: { readonly rows?: number }) {
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">{texts.shell.loading}</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <div key={index} className="skeleton-row" />
      ))}
    </div>
  );
}
