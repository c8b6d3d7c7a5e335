import type { Timestamp } from "../../core/time.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";

/** The proof of the first step, which the second step sends again. */
export interface FirstStep {
  readonly email: string;
  readonly password: string;
}

const purpose = "sign-in-step";
const lifeMs = 10 * 60_000;

/** Seals the first step. The page carries it to the second step, so neither the page nor the store ever holds a readable password. */
export function sealFirstStep(secrets: SecretBox, interactionId: string, step: FirstStep & { at: Timestamp }): string {
  return secrets.seal(purpose, interactionId, JSON.stringify(step)).toString("base64url");
}

/** Returns undefined for a missing value, for a value of another sign-in, and for a value that is too old. */
export function openFirstStep(
  secrets: SecretBox,
  interactionId: string,
  sealed: string | null,
  now: Timestamp,
): FirstStep | undefined {
  if (sealed === null) return undefined;
  try {
    const { at, ...step } = JSON.parse(
      secrets.open(purpose, interactionId, Buffer.from(sealed, "base64url")).toString("utf8"),
    ) as FirstStep & { at: Timestamp };
    return now - at < lifeMs ? step : undefined;
  } catch {
    return undefined;
  }
}
