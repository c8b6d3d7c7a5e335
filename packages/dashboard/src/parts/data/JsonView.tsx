import { useState } from "react";
import "./JsonView.css";
import { texts } from "../../texts/texts.ts";
import { Button } from "../controls/Button.tsx";
import { CopyButton } from "../controls/CopyButton.tsx";

interface JsonViewProps {
  /** The name of the value, for example "Input". */
  readonly label: string;
  readonly value: unknown;
}

/** The number of entries of an object or a list that are shown at first. Each click on "Show more" adds four times as many. */
const pageLength = 50;
const longText = 400;
/** The outermost value is open at first. In it, values at `openDepth` or deeper, or with more than `openLength` entries, are folded at first. */
const openDepth = 3;
const openLength = 20;

/** A JSON value to read and to copy. A large or deep part is folded at first, and drawn only when it is opened. */
export function JsonView({ label, value }: JsonViewProps) {
  return (
    <section className="json" aria-label={label}>
      <header className="json-header">
        <h3>{label}</h3>
        <CopyButton
          text={() => JSON.stringify(value, null, 2) ?? ""}
          label={`${texts.parts.copy} ${label}`}
          isIconOnly
        />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <div className="json-value" tabIndex={0}>
        <Value value={value} depth={0} />
      </div>
    </section>
  );
}

/** Shown in place of a value that does not exist, or does not exist yet. */
export function NoJson({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <section className="json" aria-label={label}>
      <header className="json-header">
        <h3>{label}</h3>
      </header>
      <p className="soft">{text}</p>
    </section>
  );
}

interface ValueProps {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
}

function Value({ name, value, depth }: ValueProps) {
  if (typeof value !== "object" || value === null) {
    return (
      <div className="json-line">
        <Name name={name} />
        <Simple value={value} />
      </div>
    );
  }
  return <Compound name={name} value={value} depth={depth} />;
}

function Compound({
  name,
  value,
  depth,
}: {
  readonly name: string | undefined;
  readonly value: object;
  readonly depth: number;
}) {
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const [isOpen, setOpen] = useState(depth === 0 || (depth < openDepth && entries.length <= openLength));
  const [shown, setShown] = useState(pageLength);
  const count = isList ? texts.json.items(entries.length) : texts.json.fields(entries.length);
  if (entries.length === 0) {
    return (
      <div className="json-line">
        <Name name={name} />
        {isList ? "[]" : "{}"}
      </div>
    );
  }
  return (
    <details className="json-compound" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span className="soft">{count}</span>
      </summary>
      {isOpen && (
        <div className="json-entries">
          {entries.slice(0, shown).map(([key, entry]) => (
            <Value key={key} name={key} value={entry} depth={depth + 1} />
          ))}
          {entries.length > shown && (
            <Button kind="quiet" onClick={() => setShown(shown + pageLength * 4)}>
              {texts.json.more(entries.length - shown)}
            </Button>
          )}
        </div>
      )}
    </details>
  );
}

function Name({ name }: { readonly name: string | undefined }) {
  return name === undefined ? null : <span className="json-name">{visible(name)}: </span>;
}

function Simple({ value }: { readonly value: unknown }) {
  if (typeof value === "string") return <Text text={value} />;
  return <span className={`json-${value === null ? "null" : typeof value}`}>{String(value)}</span>;
}

function Text({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > longText;
  return (
    <>
      <span className="json-string">
        {visible(JSON.stringify(isCut ? `${text.slice(0, longText).toWellFormed()}…` : text))}
      </span>
      {isCut && (
        <Button kind="quiet" onClick={() => setWhole(true)}>
          {texts.json.wholeText(text.length)}
        </Button>
      )}
    </>
  );
}

/** Writes invisible characters as escapes of JSON. Otherwise some of these characters would reverse the text around them. */
function visible(text: string): string {
  return text.replace(/[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
