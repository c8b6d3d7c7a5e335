import { hash, randomBytes } from "node:crypto";
import type { Timestamp } from "../../core/time.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";
import type { Queryable } from "../../store/home/database.ts";
import { replaceSignInLink, useSignInLink } from "../../store/people/sign-in-links.ts";

/** The time that a person has to find the link in the terminal and to open it. */
const linkMs = 10 * 60_000;
/** The longest time from opening the link until the sign-in begins. Between the two are only a few redirects. */
const openedMs = 60_000;

/** Makes a link's secret. The first person who opens the link is signed in as the user. The secret is shown once and stored nowhere. */
export async function issueSignInLink(db: Queryable, userId: string, createdAt: Timestamp): Promise<string> {
  const secret = randomBytes(32).toString("base64url");
  await replaceSignInLink(db, { userId, linkHash: hashOf(secret), expiresAt: createdAt + linkMs });
  return secret;
}

/** `baseUrl` has no slash at the end. */
export function signInLinkUrl(baseUrl: string, secret: string): string {
  return `${baseUrl}/sign-in/link/${secret}`;
}

/** Uses up a link. Returns the sealed value that the browser carries from the link to the sign-in page; undefined when the link is not valid. */
export async function openSignInLink(
  db: Queryable,
  secrets: SecretBox,
  secret: string,
  now: Timestamp,
): Promise<string | undefined> {
  const userId = await useSignInLink(db, hashOf(secret), now);
  return userId === undefined ? undefined : sealOpenedLink(secrets, { userId }, now);
}

/** The content of the sealed value that the browser carries to the sign-in page: the user who is signed in there. */
export interface OpenedLink {
  readonly userId: string;
  /**
   * Set if the person has just given their password and need not give it again. `changedAt` is the time at which that password was set. Left out if
   * the person opened a sign-in link.
   */
  readonly password?: { readonly changedAt: Timestamp | null };
}

/** Makes the sealed value that the browser carries to the sign-in page. */
export function sealOpenedLink(secrets: SecretBox, opened: OpenedLink, now: Timestamp): string {
  return secrets.seal(purpose, "", JSON.stringify({ ...opened, openedAt: now })).toString("base64url");
}

/** Returns undefined for a value that is too old or not valid. */
export function readOpenedLink(secrets: SecretBox, sealed: string, now: Timestamp): OpenedLink | undefined {
  try {
    const plain = secrets.open(purpose, "", Buffer.from(sealed, "base64url")).toString("utf8");
    const { openedAt, ...opened } = JSON.parse(plain) as OpenedLink & { readonly openedAt: Timestamp };
    return now - openedAt < openedMs ? opened : undefined;
  } catch {
    return undefined;
  }
}

const purpose = "sign-in-link";

/** The cookie that carries the value. Browsers send it only to the sign-in page. */
export function openedLinkCookie(basePath: string, isSecure: boolean) {
  return {
    name: isSecure ? "__Secure-stepwell-link" : "stepwell-link",
    path: `${basePath}/oidc/sign-in`,
    maxAgeSeconds: openedMs / 1_000,
  };
}

/** A plain hash is enough, since the secret is random and long. */
function hashOf(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}
