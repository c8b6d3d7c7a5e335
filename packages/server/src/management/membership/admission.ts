import { recordAccountActivity } from "../../auth/account-activity.ts";
import type { AdmissionOutcome, AdmissionRejection } from "../../auth/external/admission.ts";
import type { ExternalClaims } from "../../auth/external/claims.ts";
import { type ExternalProvider, hasDomainOf, signInNameOf } from "../../auth/external/provider.ts";
import type { RequestSource } from "../../auth/request-source.ts";
import { isUniqueViolation, type Transaction } from "../../store/home/database.ts";
import {
  findLinkCandidate,
  findUserByExternalIdentity,
  type IdentifiedUser,
  insertExternalIdentity,
  type LinkCandidate,
} from "../../store/people/external-identities.ts";
import { holdCredentials, removePassword } from "../../store/people/user-credentials.ts";
import { insertUser } from "../../store/people/users.ts";
import { endFormerAccess } from "../account/password.ts";
import { removeSecondFactor } from "../account/second-factor.ts";
import {
  bringMembershipUpToDate,
  type MembershipParts,
  type MembershipState,
  membershipToday,
} from "./provided-membership.ts";

export interface AdmissionParts extends MembershipParts {
  /** Called after a change, so that the change takes effect at once on this node. */
  readonly onChanged: (userId: string) => void;
}

/**
 * Admits a person for whom a provider vouches, or rejects them. A person who was admitted before is recognized by issuer and subject, never by the
 * e-mail address. The first time, the person gets the account with that address, or a new account.
 */
export async function admit(
  parts: AdmissionParts,
  provider: ExternalProvider,
  claims: ExternalClaims,
  source: RequestSource,
): Promise<AdmissionOutcome> {
  const known = await findUserByExternalIdentity(parts.database, claims.issuer, claims.subject);
  if (known !== undefined) return await admitKnown(parts, provider, claims, source, known);
  const admission = await admitNew(parts, provider, claims, source).catch((error: unknown) => {
    if (isUniqueViolation(error)) return undefined;
    throw error;
  });
  if (admission !== undefined && !isAddressTaken(admission)) return admission;
  // Another sign-in of the same person, or an invitation for the same address, may have made the account meanwhile.
  const rival = await findUserByExternalIdentity(parts.database, claims.issuer, claims.subject);
  if (rival !== undefined) return await admitKnown(parts, provider, claims, source, rival);
  return admission ?? (await admitNew(parts, provider, claims, source));
}

function isAddressTaken(admission: AdmissionOutcome): boolean {
  return admission.outcome === "rejected" && admission.reason === "address-taken";
}

async function admitKnown(
  parts: AdmissionParts,
  provider: ExternalProvider,
  claims: ExternalClaims,
  source: RequestSource,
  user: IdentifiedUser,
): Promise<AdmissionOutcome> {
  if (user.disabledAt !== null) return rejected("disabled");
  // Providers may share an issuer, and each vouches only for its own domains.
  if (!hasDomainOf(provider, claims.email ?? user.email)) return rejected("foreign-domain");
  const { userId, displayName: userName } = user;
  const today = await membershipToday(parts.database, provider, userId, claims);
  if (today !== "to-be-changed") return resultOf(today, userId, userName);
  const { state, isChanged } = await parts.database.transaction((transaction) =>
    bringMembershipUpToDate(parts, transaction, provider, { userId, claims, source }),
  );
  if (isChanged) parts.onChanged(userId);
  return resultOf(state, userId, userName);
}

async function admitNew(
  parts: AdmissionParts,
  provider: ExternalProvider,
  claims: ExternalClaims,
  source: RequestSource,
): Promise<AdmissionOutcome> {
  const { email } = claims;
  if (email === undefined) return rejected("unverified-email");
  if (!hasDomainOf(provider, email)) return rejected("foreign-domain");
  const { database, onChanged } = parts;
  try {
    const admission = await database.transaction(async (transaction) => {
      const user = await takeAccount(parts, transaction, provider, { ...claims, email }, source);
      const { userId, userName } = user;
      const { state } = await bringMembershipUpToDate(parts, transaction, provider, { userId, claims, source });
      if (state !== "member") throw new RejectedError(state);
      return resultOf(state, userId, userName);
    });
    if (admission.outcome === "admitted") onChanged(admission.userId);
    return admission;
  } catch (error) {
    // The transaction is rolled back, so a rejected person leaves no account behind.
    if (error instanceof RejectedError) return rejected(error.reason);
    throw error;
  }
}

async function takeAccount(
  { engine }: AdmissionParts,
  transaction: Transaction,
  provider: ExternalProvider,
  { issuer, subject, email, name }: ExternalClaims & { readonly email: string },
  { address }: RequestSource,
): Promise<{ readonly userId: string; readonly userName: string }> {
  const createdAt = engine.now();
  const found = await holdLinkCandidate(transaction, email, issuer);
  if (found?.disabledAt !== undefined && found.disabledAt !== null) throw new RejectedError("disabled");
  if (found?.isKnownToIssuer === true) throw new RejectedError("address-taken");
  const userId = found?.userId ?? engine.newId();
  const note = async (action: "account-created" | "identity-linked") => {
    const details = { by: signInNameOf(provider) };
    await recordAccountActivity(transaction, engine, { userId, action, address, details });
  };
  if (found === undefined) {
    await insertUser(transaction, { userId, email, displayName: name, createdAt });
    await note("account-created");
  } else {
    await endEarlierCredentials(transaction, userId, createdAt);
  }
  await insertExternalIdentity(transaction, { issuer, subject, userId, createdAt });
  await note("identity-linked");
  return { userId, userName: found?.displayName ?? name };
}

/**
 * Finds and locks the account, and reads it again under the lock: two persons may come with the same address at the same time, and the second must
 * see what the first changed.
 */
async function holdLinkCandidate(
  transaction: Transaction,
  email: string,
  issuer: string,
): Promise<LinkCandidate | undefined> {
  const found = await findLinkCandidate(transaction, email, issuer);
  if (found === undefined) return undefined;
  await holdCredentials(transaction, found.userId);
  return await findLinkCandidate(transaction, email, issuer);
}

/**
 * Ends every earlier credential of the account, so that only the person for whom the issuer vouches has access. The service sends no mail, so anybody
 * may have made an account with this address.
 */
async function endEarlierCredentials(transaction: Transaction, userId: string, at: number): Promise<void> {
  await removePassword(transaction, userId, at);
  await removeSecondFactor(transaction, userId);
  await endFormerAccess(transaction, userId, at);
}

/** Thrown to roll the transaction back. */
class RejectedError extends Error {
  readonly reason: AdmissionRejection;

  constructor(reason: AdmissionRejection) {
    super(reason);
    this.reason = reason;
  }
}

function resultOf(state: MembershipState, userId: string, userName: string): AdmissionOutcome {
  return state === "member" ? { outcome: "admitted", userId, userName } : rejected(state);
}

function rejected(reason: AdmissionRejection): AdmissionOutcome {
  return { outcome: "rejected", reason };
}
