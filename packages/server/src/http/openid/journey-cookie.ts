import type { Journey } from "../../auth/external/journey.ts";
import type { Timestamp } from "../../core/time.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";

const purpose = "sign-in-journey";
const lifeMs = 15 * 60_000;

/** Seals the journey for the browser's cookie. The value works for one sign-in and one provider only. */
export function sealJourney(
  secrets: SecretBox,
  interactionId: string,
  providerId: string,
  journey: Journey & { readonly at: Timestamp },
): string {
  return secrets.seal(purpose, `${interactionId} ${providerId}`, JSON.stringify(journey)).toString("base64url");
}

/** Returns undefined for a missing value, for a value of another sign-in or provider, and for a value that is too old. */
export function openJourney(
  secrets: SecretBox,
  interactionId: string,
  providerId: string,
  sealed: string | undefined,
  now: Timestamp,
): Journey | undefined {
  if (sealed === undefined) return undefined;
  try {
    const bytes = secrets.open(purpose, `${interactionId} ${providerId}`, Buffer.from(sealed, "base64url"));
    const { at, ...journey } = JSON.parse(bytes.toString("utf8")) as Journey & { readonly at: Timestamp };
    return now - at < lifeMs ? journey : undefined;
  } catch {
    return undefined;
  }
}
