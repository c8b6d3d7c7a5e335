import { hash, randomBytes } from "node:crypto";
import type { Timestamp } from "../../core/job/job-state.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";
import type { Queryable } from "../../store/home/database.ts";
import { replaceSignInLink, useSignInLink } from "../../store/people/sign-in-links.ts";

/** Time to find it in the terminal. */
const linkMs = 10 * 60_000;
/** From opening the link until the sign-in that it stands for begins: a few redirects. */
const openedMs = 60_000;

/** Makes a link's secret: whoever opens the link first is signed in as the user. Shown once and stored nowhere. */
export async function issueSignInLink(db: Queryable, userId: string, createdAt: Timestamp): Promise<string> {
  const secret = randomBytes(32).toString("base64url");
  await replaceSignInLink(db, { userId, linkHash: hashOf(secret), expiresAt: createdAt + linkMs });
  return secret;
}

/** `baseUrl` without a slash at the end. */
export function signInLinkUrl(baseUrl: string, secret: string): string {
  return `${baseUrl}/sign-in/link/${secret}`;
}

/** What the browser that opened the link carries to the sign-in page. Undefined when the link does not hold any more. */
export async function openSignInLink(
  db: Queryable,
  secrets: SecretBox,
  secret: string,
  now: Timestamp,
): Promise<string | undefined> {
  const userId = await useSignInLink(db, hashOf(secret), now);
  return userId === undefined ? undefined : sealOpenedLink(secrets, userId, now);
}

/** The same for somebody who has just proven otherwise who they are, and need not do so twice. */
export function sealOpenedLink(secrets: SecretBox, userId: string, now: Timestamp): string {
  return secrets.seal(purpose, "", JSON.stringify({ userId, openedAt: now })).toString("base64url");
}

/** Whom it signs in; undefined for what is too old, or no such value. */
export function userOfOpenedLink(secrets: SecretBox, opened: string, now: Timestamp): string | undefined {
  try {
    const plain = secrets.open(purpose, "", Buffer.from(opened, "base64url")).toString("utf8");
    const { userId, openedAt } = JSON.parse(plain) as { readonly userId: string; readonly openedAt: Timestamp };
    return now - openedAt < openedMs ? userId : undefined;
  } catch {
    return undefined;
  }
}

const purpose = "sign-in-link";

/** The cookie that carries it; only the sign-in page gets it. */
export function openedLinkCookie(basePath: string, isSecure: boolean) {
  return {
    name: isSecure ? "__Secure-stepwell-link" : "stepwell-link",
    path: `${basePath}/oidc/sign-in`,
    maxAgeSeconds: openedMs / 1_000,
  };
}

/** The secret is random and long, so a plain hash is enough. */
function hashOf(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}
