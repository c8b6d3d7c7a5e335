/**
 * Describes for the operator what went wrong with an issuer, by names and messages alone. The errors of the libraries carry whole answers, which may
 * contain tokens and personal data.
 */
export function describeTrouble(error: unknown): string {
  const parts: string[] = [];
  for (let cause = error; cause instanceof Error && parts.length < maxCauses; cause = cause.cause) {
    const { code, error: name, error_description: description } = cause as Error & ProtocolError;
    parts.push([cause.message, code, name, description].filter((part) => typeof part === "string").join(" · "));
  }
  return parts.join(" ← ").slice(0, maxLength) || "nothing is known";
}

interface ProtocolError {
  readonly code?: unknown;
  readonly error?: unknown;
  readonly error_description?: unknown;
}

const maxCauses = 4;
const maxLength = 1_000;
