import type { SigningKeys } from "../oidc/signing-keys.ts";
import { resealSecondFactors, type SecondFactorParts } from "../passwords/second-factor.ts";
import { resealSecretKeyCheck } from "./secret-key-check.ts";

export interface ResealingParts extends SecondFactorParts {
  readonly signingKeys: SigningKeys;
  /** Called with the number of resealed values, unless it is 0. */
  readonly onResealed: (count: number) => void;
}

const usersAtOnce = 500;
const firstAfterMs = 10_000;
/** Nodes that still seal under the former key may have written more values since the last run. */
const againAfterMs = 15 * 60_000;

/**
 * Seals second factors, signing keys and the check value again under the present secret key, so that the earlier key can be removed. Other sealed
 * values belong to a session or to a sign-in that is not finished, and end with it. The seals of the audit trail stay as they are, and are checked
 * with the key that made them.
 */
export function resealingDuty(parts: ResealingParts) {
  return {
    name: "resealing",
    everyMs: firstAfterMs,
    async runOnce() {
      let count = await parts.signingKeys.reseal();
      let last: string | null = null;
      do {
        const page = await resealSecondFactors(parts, last, usersAtOnce);
        count += page.resealedCount;
        last = page.lastUserId;
      } while (last !== null);
      // The check value comes last, so that a key that opens it also opens the other values.
      count += await resealSecretKeyCheck(parts.database, parts.secrets);
      if (count > 0) parts.onResealed(count);
      return { againInMs: againAfterMs };
    },
  };
}
