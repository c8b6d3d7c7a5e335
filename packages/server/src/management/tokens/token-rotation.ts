import { requireCurrentSecret } from "../../auth/credentials/lasting-credential.ts";
import { createToken } from "../../auth/credentials/token-form.ts";
import { requireAll } from "../../auth/permissions/required.ts";
import { notFound } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import { toTime } from "../../core/time.ts";
import {
  type ApiToken,
  lockApiToken,
  replaceLostSecret,
  rotateApiToken as rotateApiTokenRow,
} from "../../store/access/tokens.ts";
import type { CallerAct, RevokingParts } from "../act/act.ts";
import { lockGrantsFor } from "../act/grants.ts";
import { transactAnew } from "../act/repetition.ts";
import { type ApiTokenKey, forgetSecrets, recordTokenAudit } from "./api-tokens.ts";
import { endOfCaller, requireAsLongALife } from "./expiry.ts";

/**
 * Gives a token a new secret, which is returned only this once. The present secret works for another `overlapMs`. Throws 403 unless the caller has
 * every permission of the token, and for a caller that is itself a token and ends before this token.
 */
export async function rotateApiToken(
  parts: RevokingParts,
  act: CallerAct,
  { organizationId, tokenId }: ApiTokenKey,
  overlapMs: number,
): Promise<{ readonly rotated: ApiToken; readonly token: string }> {
  const { engine } = parts;
  const { token, tokenHash, tokenPrefix } = createToken("organization", organizationId);
  const scope = { organizationId };
  const { rotated, ended } = await transactAnew(parts, act, scope, async (transaction, earlier?: Rotation) => {
    const granted = await lockGrantsFor(transaction, engine, act, organizationId, {
      isRepetition: earlier !== undefined,
    });
    const found = await lockApiToken(transaction, organizationId, tokenId);
    if (found === undefined) throw notFound("API token");
    const { tokenHash: endingHash, previousTokenHash, ...current } = found;
    requireAll(granted, current.permissions);
    requireAsLongALife(current.expiresAt, await endOfCaller(transaction, act.caller));
    const rotatedAt = engine.now();
    // If the answer was lost, nobody received the secret that it showed. So the lost secret ends, and the secret before it, which programs use, stays
    // valid for as long as the first attempt said.
    const isLost = earlier !== undefined && earlier.rotatedAt === current.rotatedAt;
    // If a token rotated itself and the answer was lost, the caller knows only the secret that the lost attempt replaced. So a repetition may use
    // that secret.
    if (!isLost) await requireCurrentSecret(transaction, act.caller);
    const previousExpiresAt = isLost
      ? (current.previousExpiresAt ?? rotatedAt)
      : Math.min(rotatedAt + overlapMs, current.expiresAt ?? Number.POSITIVE_INFINITY);
    const rotated: ApiToken = { ...current, tokenPrefix, rotatedAt, previousExpiresAt, updatedAt: rotatedAt };
    await (isLost ? replaceLostSecret : rotateApiTokenRow)(transaction, rotated, tokenHash);
    const details = { previousExpiresAt: toTime(previousExpiresAt), ...(isLost && { lostSecretEnded: true }) };
    await recordTokenAudit(parts, transaction, act, rotated, details);
    return { made: { rotatedAt }, answer: { rotated, ended: { tokenHash: endingHash, previousTokenHash } } };
  });
  forgetSecrets(parts, ended);
  return { rotated, token };
}

/** The rotation of an earlier attempt whose answer was lost. */
type Rotation = { readonly rotatedAt: Timestamp };
