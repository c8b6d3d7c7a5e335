import type { RequestSource } from "../request-source.ts";
import type { ExternalClaims } from "./claims.ts";
import type { ExternalProvider } from "./provider.ts";

/**
 * Admits a person for whom a provider vouches: gives them an account and the membership that the claims say, or rejects them. It changes memberships,
 * so `management` implements it and `service.ts` hands it in.
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
  /** The issuer gives no verified address, and the person is not known yet. */
  | "unverified-email"
  | "foreign-domain"
  /** Another person of the issuer has, or had, the account with this address. */
  | "address-taken"
  | "disabled"
  | "no-role"
  /** The organization has as many members as it may have. */
  | "no-room"
  | "no-organization";
