import { Icon } from "../../parts/layout/Icon.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Quoted } from "../../parts/words/Quoted.tsx";
import { texts } from "../../texts/texts.ts";
import type { Checked } from "./checked.ts";
import "./Remarks.css";

interface RemarksProps {
  readonly checked: Checked;
  readonly onGoTo: (pointer: string) => void;
}

/** All that is wrong, or may go wrong, each with the way to its place. */
export function Remarks({ checked: { remarks, isValid, error }, onGoTo }: RemarksProps) {
  const words = texts.editor;
  return (
    <Panel title={words.check} isFlush beside={<span role="status">{summaryOf(remarks, isValid)}</span>}>
      {error !== null && <Problem error={error} />}
      <ul className="remarks">
        {remarks.map(({ pointer, detail, severity }) => (
          <li key={`${severity} ${pointer} ${detail}`} className={`remark-${severity}`}>
            <Icon name={severity === "error" ? "cross" : "alert"} />
            <div>
              <span className="visually-hidden">{severity === "error" ? words.error : words.warning}: </span>
              <Quoted text={detail} /> <GoTo pointer={pointer} onGoTo={onGoTo} />
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function GoTo({ pointer, onGoTo }: { readonly pointer: string; readonly onGoTo: (pointer: string) => void }) {
  const words = texts.editor;
  const place = pointer === "" ? words.wholeDefinition : pointer;
  return (
    <button type="button" aria-label={words.goTo(place)} onClick={() => onGoTo(pointer)}>
      {place}
    </button>
  );
}

function summaryOf(remarks: Checked["remarks"], isValid: boolean | undefined): string {
  const words = texts.editor;
  if (isValid === undefined) return words.checking;
  const errors = remarks.filter(({ severity }) => severity === "error").length;
  const warnings = remarks.length - errors;
  const counts = [errors > 0 && words.errors(errors), warnings > 0 && words.warnings(warnings)].filter(Boolean);
  return [isValid && words.valid, ...counts].filter(Boolean).join(", ");
}
