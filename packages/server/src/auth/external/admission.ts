import { type Database, isUniqueViolation, type Transaction } from "../../store/home/database.ts";
import { insertAccountActivity } from "../../store/people/account-activity.ts";
import {
  findLinkCandidate,
  findUserByExternalIdentity,
  type IdentifiedUser,
  insertExternalIdentity,
  type LinkCandidate,
} from "../../store/people/external-identities.ts";
import { endPasswordLink } from "../../store/people/password-links.ts";
import { replaceRecoveryCodes } from "../../store/people/recovery-codes.ts";
import { disableTotp, endOtherSessions, holdCredentials, removePassword } from "../../store/people/user-credentials.ts";
import { revokeAllUserTokens } from "../../store/people/user-tokens.ts";
import { insertUser } from "../../store/people/users.ts";
import type { ExternalClaims } from "./claims.ts";
import {
  bringMembershipUpToDate,
  type MembershipParts,
  type MembershipState,
  membershipToday,
  type Origin,
} from "./provided-membership.ts";
import { type ExternalProvider, hasDomainOf, signInNameOf } from "./provider.ts";

export interface AdmissionParts extends MembershipParts {
  readonly database: Database;
  /** On this node it holds at once what somebody may do from now on. */
  readonly onChanged: () => void;
}

export type AdmissionRefusal =
  /** The issuer gives no address that it verified, and the person is not known. */
  | "unverified-email"
  | "foreign-domain"
  /** Another person of the issuer has, or had, the account with this address. */
  | "address-taken"
  | "disabled"
  | Exclude<MembershipState, "member">;

export type Admission =
  | { readonly outcome: "admitted"; readonly userId: string; readonly userName: string }
  | { readonly outcome: "refused"; readonly reason: AdmissionRefusal };

/**
 * Lets somebody in for whom a provider vouches. Who was here before is known by issuer and subject, never by their address. At the first time the
 * account with their address is taken for theirs, or one is made.
 */
export async function admit(
  parts: AdmissionParts,
  provider: ExternalProvider,
  claims: ExternalClaims,
  origin: Origin,
): Promise<Admission> {
  const known = await findUserByExternalIdentity(parts.database, claims.issuer, claims.subject);
  if (known !== undefined) return await admitKnown(parts, provider, claims, origin, known);
  const admission = await admitNew(parts, provider, claims, origin).catch((error: unknown) => {
    if (isUniqueViolation(error)) return undefined;
    throw error;
  });
  if (admission !== undefined && !isAddressTaken(admission)) return admission;
  // At this instant another sign-in of the same person, or an invitation for the same address, may have been first.
  const rival = await findUserByExternalIdentity(parts.database, claims.issuer, claims.subject);
  if (rival !== undefined) return await admitKnown(parts, provider, claims, origin, rival);
  return admission ?? (await admitNew(parts, provider, claims, origin));
}

function isAddressTaken(admission: Admission): boolean {
  return admission.outcome === "refused" && admission.reason === "address-taken";
}

async function admitKnown(
  parts: AdmissionParts,
  provider: ExternalProvider,
  claims: ExternalClaims,
  origin: Origin,
  user: IdentifiedUser,
): Promise<Admission> {
  if (user.disabledAt !== null) return refused("disabled");
  // Two providers may share an issuer: each speaks for its own domains alone.
  if (!hasDomainOf(provider, claims.email ?? user.email)) return refused("foreign-domain");
  const { userId, displayName: userName } = user;
  const today = await membershipToday(parts.database, provider, userId, claims);
  if (today !== "to-be-changed") return resultOf(today, userId, userName);
  const state = await parts.database.transaction((transaction) =>
    bringMembershipUpToDate(parts, transaction, provider, { userId, claims, origin }),
  );
  parts.onChanged();
  return resultOf(state, userId, userName);
}

async function admitNew(
  parts: AdmissionParts,
  provider: ExternalProvider,
  claims: ExternalClaims,
  origin: Origin,
): Promise<Admission> {
  const { email } = claims;
  if (email === undefined) return refused("unverified-email");
  if (!hasDomainOf(provider, email)) return refused("foreign-domain");
  const { database, onChanged } = parts;
  try {
    return await database.transaction(async (transaction) => {
      const user = await takeAccount(parts, transaction, provider, { ...claims, email }, origin);
      const { userId, userName } = user;
      const state = await bringMembershipUpToDate(parts, transaction, provider, { userId, claims, origin });
      if (state !== "member") throw new Refused(state);
      return resultOf(state, userId, userName);
    });
  } catch (error) {
    // Nothing was written: who is refused leaves no account behind.
    if (error instanceof Refused) return refused(error.reason);
    throw error;
  } finally {
    onChanged();
  }
}

async function takeAccount(
  { now, newId }: AdmissionParts,
  transaction: Transaction,
  provider: ExternalProvider,
  { issuer, subject, email, name }: ExternalClaims & { readonly email: string },
  { address }: Origin,
): Promise<{ readonly userId: string; readonly userName: string }> {
  const createdAt = now();
  const found = await holdLinkCandidate(transaction, email, issuer);
  if (found?.disabledAt !== undefined && found.disabledAt !== null) throw new Refused("disabled");
  if (found?.isKnownToIssuer === true) throw new Refused("address-taken");
  const userId = found?.userId ?? newId();
  const note = async (action: "account-created" | "identity-linked") => {
    const details = { by: signInNameOf(provider) };
    await insertAccountActivity(transaction, {
      userId,
      activityId: newId(),
      happenedAt: createdAt,
      action,
      address,
      details,
    });
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

/** Looked at only once it is held: two persons may come with one address at one instant, and the second must see the first. */
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
 * The service sends no mail: an account with this address may be of anybody who typed it in before. So what it was signed in with until now ends here,
 * and whoever the issuer vouches for has it alone.
 */
async function endEarlierCredentials(transaction: Transaction, userId: string, at: number): Promise<void> {
  await removePassword(transaction, userId, at);
  await disableTotp(transaction, userId);
  await replaceRecoveryCodes(transaction, userId, []);
  await endPasswordLink(transaction, userId);
  await revokeAllUserTokens(transaction, userId, at);
  await endOtherSessions(transaction, userId, null, at);
}

/** Rolls the transaction back. */
class Refused extends Error {
  readonly reason: AdmissionRefusal;

  constructor(reason: AdmissionRefusal) {
    super(reason);
    this.reason = reason;
  }
}

function resultOf(state: MembershipState, userId: string, userName: string): Admission {
  return state === "member" ? { outcome: "admitted", userId, userName } : refused(state);
}

function refused(reason: AdmissionRefusal): Admission {
  return { outcome: "refused", reason };
}
