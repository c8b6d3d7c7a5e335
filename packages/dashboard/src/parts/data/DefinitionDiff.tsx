import { useMemo } from "react";
import { texts } from "../../texts/texts.ts";
import "./DefinitionDiff.css";
import { type DiffLine, diffLines } from "./line-diff.ts";

interface DefinitionDiffProps {
  readonly before: string;
  readonly after: string;
}

/** The number of unchanged lines that are shown before and after a change. */
const contextLines = 3;

/** The differences between two definitions. Both are first formatted in the same way, so that only other differences are shown. */
export function DefinitionDiff({ before, after }: DefinitionDiffProps) {
  const hunks = useMemo(() => hunksOf(diffLines(linesOf(before), linesOf(after))), [before, after]);
  const lines = hunks.flatMap((hunk) => (hunk.kind === "lines" ? hunk.lines : []));
  const added = lines.filter(({ kind }) => kind === "added").length;
  const removed = lines.filter(({ kind }) => kind === "removed").length;
  if (added + removed === 0) return <p className="soft">{texts.workflow.noChanges}</p>;
  return (
    <div className="stack">
      <p className="soft">{texts.workflow.changedLines(added, removed)}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section className="definition-diff" tabIndex={0} aria-label={texts.workflow.changes}>
        <pre>
          {hunks.map((hunk) =>
            hunk.kind === "skipped" ? (
              <span key={hunk.id} className="diff-skipped">
                {texts.workflow.unchanged(hunk.count)}
                {"\n"}
              </span>
            ) : (
              hunk.lines.map((line) => <Line key={line.number} line={line} />)
            ),
          )}
        </pre>
      </section>
    </div>
  );
}

function Line({ line: { kind, text } }: { readonly line: DiffLine }) {
  if (kind === "added") return <ins>{`+ ${text}\n`}</ins>;
  if (kind === "removed") return <del>{`- ${text}\n`}</del>;
  return <span>{`  ${text}\n`}</span>;
}

interface NumberedLine extends DiffLine {
  readonly number: number;
}

type Hunk =
  | { readonly kind: "lines"; readonly id: number; readonly lines: NumberedLine[] }
  | { readonly kind: "skipped"; readonly id: number; readonly count: number };

function hunksOf(lines: readonly DiffLine[]): Hunk[] {
  const changed = lines.flatMap(({ kind }, index) => (kind === "same" ? [] : [index]));
  const isNear = new Set(
    changed.flatMap((index) =>
      Array.from({ length: 2 * contextLines + 1 }, (_, offset) => index + offset - contextLines),
    ),
  );
  const hunks: Hunk[] = [];
  for (const [number, line] of lines.entries()) {
    const last = hunks.at(-1);
    if (isNear.has(number)) {
      if (last?.kind === "lines") last.lines.push({ ...line, number });
      else hunks.push({ kind: "lines", id: number, lines: [{ ...line, number }] });
    } else if (last?.kind === "skipped") hunks.splice(-1, 1, { ...last, count: last.count + 1 });
    else hunks.push({ kind: "skipped", id: number, count: 1 });
  }
  return hunks;
}

function linesOf(definition: string): string[] {
  return prettyJson(definition).split("\n");
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
