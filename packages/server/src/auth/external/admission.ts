import type { RequestSource } from "../request-source.ts";
import type { ExternalClaims } from "./claims.ts";
import type { ExternalProvider } from "./provider.ts";

/**
 * Admits a person for whom a provider vouches, or rejects the person. A person who is admitted has an account afterwards, and is a member with the
 * roles that follow from the claims. This changes memberships, so `management` implements it and `service.ts` passes it in.
 */
export type Admit = (
  provider: ExternalProvider,
  claims: ExternalClaims,
  source: RequestSource,
) => Promise<AdmissionOutcome>;

export type AdmissionOutcome =
  | { readonly outcome: "admitted"; readonly userId: string; readonly userName: string }
  | { readonly outcome: "rejected"; readonly reason: AdmissionRejection };

export type AdmissionRejection =
  /** The issuer gives no verified e-mail address, and the person was not admitted before. */
  | "unverified-email"
  | "foreign-domain"
  /** Another person of the issuer has, or had, the account with this address. */
  | "address-taken"
  | "disabled"
  | "no-role"
  /** The organization already has its maximum of members. */
  | "no-room"
  | "no-organization";
