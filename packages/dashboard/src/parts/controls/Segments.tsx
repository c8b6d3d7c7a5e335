import { ToggleGroup } from "radix-ui";
import "./Segments.css";

interface SegmentsProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly (readonly [Value, string])[];
  readonly onChoose: (value: Value) => void;
}

/** A choice between a few ways to see the same thing. */
export function Segments<Value extends string>({ label, value, choices, onChoose }: SegmentsProps<Value>) {
  return (
    <ToggleGroup.Root
      type="single"
      className="segments"
      aria-label={label}
      value={value}
      // A second click on the selected item would clear the selection.
      onValueChange={(chosen) => chosen !== "" && onChoose(chosen as Value)}
    >
      {choices.map(([choice, text]) => (
        <ToggleGroup.Item key={choice} value={choice} className="segment">
          {text}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  );
}
