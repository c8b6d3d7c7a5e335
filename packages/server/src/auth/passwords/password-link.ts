import { hash, randomBytes } from "node:crypto";
import type { Actor } from "../../core/actor.ts";
import type { Timestamp } from "../../core/time.ts";
import type { Queryable } from "../../store/home/database.ts";
import { replacePasswordLink } from "../../store/people/password-links.ts";

/**
 * The link for a first password is valid for longer than a weekend. The link for a reset is valid for a shorter time, since the person has just asked
 * for it.
 */
export const passwordLinkHours = { first: 72, reset: 1 } as const;

export interface NewPasswordLink {
  readonly userId: string;
  readonly kind: keyof typeof passwordLinkHours;
  readonly createdBy: Actor;
  readonly createdAt: Timestamp;
  /** The latest end of the link. If it is null or left out, the link ends after the hours of its kind. */
  readonly notAfter?: Timestamp | null;
  /** A user token that was made together with the link, for the same person. When the link is used, all other tokens of this user end. */
  readonly keptTokenId?: string;
}

export interface IssuedPasswordLink {
  /** The secret in the link. Shown once and stored nowhere. */
  readonly secret: string;
  readonly expiresAt: Timestamp;
}

/** Makes a link that sets the user's password once. It replaces an earlier link. */
export async function issuePasswordLink(db: Queryable, link: NewPasswordLink): Promise<IssuedPasswordLink> {
  const { userId, kind, createdBy, createdAt, notAfter, keptTokenId = null } = link;
  const secret = randomBytes(32).toString("base64url");
  const expiresAt = Math.min(createdAt + passwordLinkHours[kind] * 3_600_000, notAfter ?? Number.POSITIVE_INFINITY);
  const linkHash = hashPasswordLink(secret);
  await replacePasswordLink(db, { userId, linkHash, createdBy, createdAt, expiresAt, keptTokenId });
  return { secret, expiresAt };
}

/** `baseUrl` has no slash at the end. */
export function passwordLinkUrl(baseUrl: string, secret: string): string {
  return `${baseUrl}/set-password?link=${secret}`;
}

/** A plain hash is enough, since the secret is random and too long to guess. */
export function hashPasswordLink(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}
