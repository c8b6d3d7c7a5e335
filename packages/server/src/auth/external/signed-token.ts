import type { JWTHeaderParameters, JWTPayload } from "jose";
import type { Timestamp } from "../../core/time.ts";
import { type ExternalIssuer, maxSkewSeconds } from "./issuer.ts";

export interface SignedToken {
  readonly header: JWTHeaderParameters;
  readonly claims: JWTPayload;
}

/** Only asymmetric algorithms are allowed: with a shared secret, everyone who can verify can also sign. */
const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];

/**
 * Verifies a token that an issuer signed for an audience. Returns undefined for a token that is not valid now. Throws `ServiceError` UnavailableError
 * when the issuer's keys cannot be fetched.
 */
export async function verifySigned(
  issuer: ExternalIssuer,
  token: string,
  audience: string,
  now: Timestamp,
): Promise<SignedToken | undefined> {
  const { jwtVerify, errors } = await import("jose");
  const { issuer: name, keys } = await issuer.discover();
  try {
    const { protectedHeader, payload } = await jwtVerify(token, keys, {
      algorithms,
      issuer: name,
      audience,
      requiredClaims: ["sub", "exp", "iat"],
      clockTolerance: maxSkewSeconds,
      currentDate: new Date(now),
    });
    const isFromTheFuture = (payload.iat ?? 0) > Math.floor(now / 1_000) + maxSkewSeconds;
    return isFromTheFuture ? undefined : { header: protectedHeader, claims: payload };
  } catch (error) {
    if (error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError)) throw issuer.unreachable(error);
    // The issuer's answer is not a set of keys.
    if (error.code === "ERR_JOSE_GENERIC" || error instanceof errors.JWKSInvalid) throw issuer.unreachable(error);
    return undefined;
  }
}
