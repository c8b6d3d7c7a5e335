import type { Timestamp } from "../../core/job/job-state.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";

/** What was right in the first step, for the second one to send again. */
export interface FirstStep {
  readonly email: string;
  readonly password: string;
}

const purpose = "sign-in-step";
const lifeMs = 10 * 60_000;

/** The page carries it sealed from one step to the next: neither the page nor the store ever holds a password that can be read. */
export function sealFirstStep(secrets: SecretBox, interactionId: string, step: FirstStep & { at: Timestamp }): string {
  return secrets.seal(purpose, interactionId, JSON.stringify(step)).toString("base64url");
}

/** Undefined where there is none, or one of another sign-in, or one that is too old. */
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
