import { locale, texts } from "../../texts/texts.ts";
import { Choice } from "./Field.tsx";

/** The number of days after which a token expires. Empty means never, and "kept" means no change. */
export type ExpiryDays = (typeof choices)[number] | "kept";

const choices = ["7", "30", "90", "365", ""] as const;

interface ExpiryChoiceProps {
  readonly value: ExpiryDays;
  readonly onChange: (value: ExpiryDays) => void;
  readonly problem?: string | undefined;
  /** The token that is changed, whose expiry the user may keep. Left out for a new token. */
  readonly present?: { readonly expiresAt?: string | undefined };
}

export function ExpiryChoice({ value, onChange, problem, present }: ExpiryChoiceProps) {
  const words = texts.expiry;
  return (
    <Choice
      label={words.label}
      value={value}
      onChange={(event) => onChange(event.target.value as ExpiryDays)}
      problem={problem}
      {...(present === undefined && { hint: words.hint })}
    >
      {present !== undefined && <option value="kept">{words.kept(dateOf(present.expiresAt))}</option>}
      {choices.map((days) => (
        <option key={days} value={days}>
          {days === "" ? words.neverChoice : words.inDays(Number(days))}
        </option>
      ))}
    </Choice>
  );
}

/** Returns the field for a request. "Never" is sent as null and not left out, since a token without the field ends after 90 days. */
export function expiryIn(days: ExpiryDays): { readonly expiresAt?: string | null } {
  if (days === "kept") return {};
  if (days === "") return { expiresAt: null };
  return { expiresAt: new Date(Date.now() + Number(days) * 86_400_000).toISOString() };
}

function dateOf(time: string | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toLocaleDateString(locale, { dateStyle: "medium" });
}
