import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement } from "../home/database.ts";

/** A user at an external issuer, identified by the subject there, which an issuer never gives to another person. */
export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly userId: string;
  readonly createdAt: Timestamp;
}

/** Inserts an identity. Fails with a unique violation when it already belongs to a user. */
export async function insertExternalIdentity(db: Queryable, identity: ExternalIdentity): Promise<void> {
  const { issuer, subject, userId, createdAt } = identity;
  await db.query(insertExternalIdentityRow, [issuer, subject, userId, new Date(createdAt).toISOString()]);
}

const insertExternalIdentityRow = statement<never>(
  "insert_external_identity",
  "global",
  "INSERT INTO external_identity (issuer, subject, user_id, created_at) VALUES ($1, $2, $3, $4)",
);

export interface IdentifiedUser {
  readonly userId: string;
  readonly email: string;
  readonly displayName: string;
  readonly disabledAt: Timestamp | null;
}

export async function findUserByExternalIdentity(
  db: Queryable,
  issuer: string,
  subject: string,
): Promise<IdentifiedUser | undefined> {
  const [row] = await db.query(findUserByExternalIdentityRow, [issuer, subject]);
  return row;
}

const findUserByExternalIdentityRow = statement<IdentifiedUser>(
  "find_user_by_external_identity",
  "global",
  `SELECT app_user.user_id AS "userId", app_user.email, app_user.display_name AS "displayName",
     app_user.disabled_at AS "disabledAt"
   FROM external_identity
   JOIN app_user USING (user_id)
   WHERE external_identity.issuer = $1 AND external_identity.subject = $2`,
);

/** A user who has the e-mail address of an identity that is seen for the first time. */
export interface LinkCandidate extends IdentifiedUser {
  /**
   * True when the user already has another identity at this issuer. Then the user and the new identity are different persons, who had the same
   * address one after the other.
   */
  readonly isKnownToIssuer: boolean;
}

export async function findLinkCandidate(
  db: Queryable,
  email: string,
  issuer: string,
): Promise<LinkCandidate | undefined> {
  const [row] = await db.query(findLinkCandidateRow, [email, issuer]);
  return row;
}

const findLinkCandidateRow = statement<LinkCandidate>(
  "find_link_candidate",
  "global",
  `SELECT user_id AS "userId", email, display_name AS "displayName", disabled_at AS "disabledAt",
     EXISTS (
       SELECT 1 FROM external_identity
       WHERE external_identity.user_id = app_user.user_id AND external_identity.issuer = $2
     ) AS "isKnownToIssuer"
   FROM app_user
   WHERE lower(email) = lower($1)`,
);
