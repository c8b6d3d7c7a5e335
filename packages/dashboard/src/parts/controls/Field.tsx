import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import "./Field.css";

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly problem?: string | undefined;
}

export function Field({ label, hint, problem, ...input }: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Frame label={label} hint={hint} problem={problem}>
      {(described) => <input type="text" {...input} {...described} className="field-input" />}
    </Frame>
  );
}

export function TextArea({ label, hint, problem, ...input }: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Frame label={label} hint={hint} problem={problem}>
      {(described) => <textarea rows={4} {...input} {...described} className="field-input" />}
    </Frame>
  );
}

/** Uses the browser's own list, which works with every keyboard, screen reader and telephone. */
export function Choice({ label, hint, problem, ...input }: FieldProps & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Frame label={label} hint={hint} problem={problem}>
      {(described) => <select {...input} {...described} className="field-input" />}
    </Frame>
  );
}

interface Described {
  readonly id: string;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: true;
}

function Frame({
  label,
  hint,
  problem,
  children,
}: FieldProps & { readonly children: (described: Described) => ReactNode }) {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  const problemId = problem === undefined ? undefined : `${id}-problem`;
  const describedBy = [hintId, problemId].filter((part) => part !== undefined).join(" ");
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(describedBy !== "" && { "aria-describedby": describedBy }),
        ...(problem !== undefined && { "aria-invalid": true as const }),
      })}
      {hint !== undefined && (
        <p className="field-hint" id={hintId}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p className="field-problem" id={problemId}>
          {problem}
        </p>
      )}
    </div>
  );
}
