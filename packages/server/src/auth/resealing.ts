import type { SigningKeys } from "./oidc/signing-keys.ts";
import { resealSecondFactors, type SecondFactorParts } from "./second-factor.ts";
import { resealSecretKeyCheck } from "./secret-key-check.ts";

export interface ResealingParts extends SecondFactorParts {
  readonly signingKeys: SigningKeys;
  /** Told how many it were, where there were any. */
  readonly onResealed: (count: number) => void;
}

const usersAtOnce = 500;
const firstAfterMs = 10_000;
/** Nodes that still seal under the old key may have been at it meanwhile. */
const againAfterMs = 15 * 60_000;

/**
 * Moves what is kept for long, second factors, signing keys and the check value, to the secret key that seals now, so that the one before it can go. What else is sealed
 * ends with its session, but for the audit trail: its seals stay as they are, and are checked with the key that made them.
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
      // Last, so that a key that opens it opens the others too.
      count += await resealSecretKeyCheck(parts.database, parts.secrets);
      if (count > 0) parts.onResealed(count);
      return { againInMs: againAfterMs };
    },
  };
}
