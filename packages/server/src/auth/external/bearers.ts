import { ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import type { RequestSource } from "../request-source.ts";
import type { AdmissionRejection } from "./admission.ts";
import { readClaims } from "./claims.ts";
import { maxSkewSeconds } from "./issuer.ts";
import { canonicalIssuer } from "./provider.ts";
import { explainRejection } from "./rejection-explanations.ts";
import { type SignedToken, verifySigned } from "./signed-token.ts";
import type { JoinedProvider, SingleSignOn } from "./single-sign-on.ts";

/** A person who sends an access token of an external issuer as the Bearer value. */
export interface ExternalBearer {
  readonly userId: string;
  readonly userName: string;
  readonly expiresAt: Timestamp;
}

/** Accepts access tokens that the configured issuers made for this service. */
export class ExternalBearers {
  readonly #signOn: SingleSignOn;
  readonly #issuers: ReadonlySet<string>;

  constructor(signOn: SingleSignOn) {
    this.#signOn = signOn;
    const taken = signOn.providers.filter(({ bearerAudience }) => bearerAudience !== undefined);
    this.#issuers = new Set(taken.map(({ issuer }) => canonicalIssuer(issuer)));
  }

  /** Tells whether the value names an issuer whose access tokens are accepted. Nothing in the value is verified yet. */
  mayBe(bearer: string): boolean {
    if (this.#issuers.size === 0) return false;
    const { iss } = unverifiedClaims(bearer) ?? {};
    return typeof iss === "string" && this.#issuers.has(canonicalIssuer(iss));
  }

  /** Returns undefined for a token that is not valid. Throws `ServiceError` when the issuer cannot be reached, or the person is not admitted. */
  async find(bearer: string, source: RequestSource): Promise<ExternalBearer | undefined> {
    const joined = this.#providerOf(bearer);
    if (joined === undefined) return undefined;
    const { provider, issuer } = joined;
    const { parts } = this.#signOn;
    const token = await verifySigned(issuer, bearer, provider.bearerAudience ?? "", parts.now());
    if (token === undefined || !isAccessToken(token)) return undefined;
    const claims = readClaims(provider, token.claims);
    if (claims === undefined) return undefined;
    const admission = await parts.admit(provider, claims, source);
    if (admission.outcome === "rejected") throw notVouchedFor(provider.name, admission.reason);
    const { userId, userName } = admission;
    return { userId, userName, expiresAt: ((token.claims.exp ?? 0) + maxSkewSeconds) * 1_000 };
  }

  /** Finds the provider by issuer and audience: several providers may share an issuer. */
  #providerOf(bearer: string): JoinedProvider | undefined {
    const { iss, aud } = unverifiedClaims(bearer) ?? {};
    if (typeof iss !== "string") return undefined;
    const audiences = [aud].flat();
    return this.#signOn.joined.find(
      ({ provider: { issuer, bearerAudience } }) =>
        bearerAudience !== undefined &&
        canonicalIssuer(issuer) === canonicalIssuer(iss) &&
        audiences.includes(bearerAudience),
    );
  }
}

/** This service's own id tokens have about 900 characters. Tokens of other issuers may be much longer: many list the groups of the person. */
const maxLength = 12 * 1024;
const form = /^[\w-]+\.([\w-]+)\.[\w-]+$/;

function unverifiedClaims(bearer: string): Readonly<Record<string, unknown>> | undefined {
  const payload = bearer.length <= maxLength ? form.exec(bearer)?.[1] : undefined;
  if (payload === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null ? { ...claims } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * In RFC 9068, an access token has the type `at+jwt`. But many issuers use `JWT`, for id tokens and logout tokens too. These two kinds are recognized
 * by claims that access tokens do not have. A token that is bound to a key (`cnf`) is rejected: its sender would have to prove possession of that
 * key, which a Bearer value does not do.
 */
function isAccessToken({ header: { typ }, claims }: SignedToken): boolean {
  const type = typ?.toLowerCase().replace(/^application\//, "");
  if (type !== "at+jwt" && type !== "jwt") return false;
  return ["nonce", "at_hash", "c_hash", "events", "cnf"].every((name) => claims[name] === undefined);
}

function notVouchedFor(name: string, reason: AdmissionRejection): ServiceError {
  return new ServiceError(
    "AuthenticationError",
    `The token is valid, but does not give access: ${explainRejection(name, reason)}`,
  );
}
