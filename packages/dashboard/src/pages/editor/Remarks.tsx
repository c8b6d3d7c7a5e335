import { Icon } from "../../parts/layout/Icon.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Quoted } from "../../parts/words/Quoted.tsx";
import { texts } from "../../texts/texts.ts";
import type { Checked, Remark } from "./checked.ts";
import "./Remarks.css";

interface RemarksProps {
  readonly checked: Checked;
  readonly onGoTo: (remark: Remark) => void;
}

/** All errors and warnings, each with a link to its place. */
export function Remarks({ checked, onGoTo }: RemarksProps) {
  const { remarks, error, retry } = checked;
  const words = texts.editor;
  return (
    <Panel title={words.check} isFlush beside={<span role="status">{summaryOf(checked)}</span>}>
      {error !== null && <Problem error={error} onRetry={retry} />}
      <ul className="remarks">
        {remarks.map((remark) => (
          <li key={keyOf(remark)} className={`remark-${remark.severity}`}>
            <Icon name={remark.severity === "error" ? "cross" : "alert"} />
            <div>
              <span className="visually-hidden">{remark.severity === "error" ? words.error : words.warning}: </span>
              <Quoted text={remark.detail} /> <GoTo remark={remark} onGoTo={onGoTo} />
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function keyOf({ severity, pointer, line, column, detail }: Remark): string {
  return [severity, pointer, line, column, detail].join(" ");
}

function GoTo({ remark, onGoTo }: { readonly remark: Remark } & Pick<RemarksProps, "onGoTo">) {
  const words = texts.editor;
  const place = [remark.pointer, words.position(remark.line, remark.column)].filter(Boolean).join(", ");
  return (
    <button type="button" aria-label={words.goTo(place)} onClick={() => onGoTo(remark)}>
      {place}
    </button>
  );
}

function summaryOf({ remarks, isValid, error }: Checked): string {
  const words = texts.editor;
  if (isValid === undefined) return error === null ? words.checking : words.notChecked;
  const errors = remarks.filter(({ severity }) => severity === "error").length;
  const warnings = remarks.length - errors;
  const counts = [errors > 0 && words.errors(errors), warnings > 0 && words.warnings(warnings)].filter(Boolean);
  return [isValid && words.valid, ...counts].filter(Boolean).join(", ");
}
