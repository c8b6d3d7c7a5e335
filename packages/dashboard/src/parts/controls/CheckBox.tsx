import { type InputHTMLAttributes, type ReactNode, useId } from "react";
import "./CheckBox.css";

interface CheckBoxProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
}

export function CheckBox({ label, hint, ...input }: CheckBoxProps) {
  const id = useId();
  return (
    <div className="check-box">
      <input type="checkbox" {...input} id={id} {...(hint !== undefined && { "aria-describedby": `${id}-hint` })} />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint !== undefined && (
          <p className="field-hint" id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
