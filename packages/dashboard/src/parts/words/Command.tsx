import "./Command.css";
import { CopyButton } from "../controls/CopyButton.tsx";

/** A command that the reader can copy as a whole. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div className="command">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} isIconOnly />
    </div>
  );
}
