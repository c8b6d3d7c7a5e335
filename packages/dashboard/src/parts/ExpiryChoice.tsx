import { texts } from "../texts/texts.ts";
import { Choice } from "./Field.tsx";

/** After how many days; empty: never. */
export type ExpiryDays = (typeof choices)[number];

const choices = ["7", "30", "90", "365", ""] as const;

interface ExpiryChoiceProps {
  readonly value: ExpiryDays;
  readonly onChange: (value: ExpiryDays) => void;
  readonly problem?: string | undefined;
}

export function ExpiryChoice({ value, onChange, problem }: ExpiryChoiceProps) {
  return (
    <Choice
      label={texts.expiry.label}
      value={value}
      onChange={(event) => onChange(event.target.value as ExpiryDays)}
      problem={problem}
    >
      {choices.map((days) => (
        <option key={days} value={days}>
          {days === "" ? texts.expiry.neverChoice : texts.expiry.inDays(Number(days))}
        </option>
      ))}
    </Choice>
  );
}

export function expiryIn(days: ExpiryDays): { readonly expiresAt?: string } {
  if (days === "") return {};
  return { expiresAt: new Date(Date.now() + Number(days) * 86_400_000).toISOString() };
}
