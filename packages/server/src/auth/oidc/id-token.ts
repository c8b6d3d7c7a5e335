import { type KeyObject, verify } from "node:crypto";
import type { Timestamp } from "../../core/time.ts";
import { organizationOfClient } from "../credentials/token-form.ts";
import { clientIds } from "./clients.ts";
import { idTokenSeconds } from "./lifetimes.ts";

export interface IdTokensParts {
  readonly issuer: () => string;
  /** The database's time. */
  readonly now: () => Timestamp;
  /** Finds a public key in the store by its id. */
  readonly publicKey: (keyId: string) => Promise<KeyObject | undefined>;
}

/** The user whom an id token names. Whether the user's session is still open is checked elsewhere. */
export interface IdTokenSubject {
  readonly userId: string;
  readonly sessionId: string;
  /** The organization's OAuth client to which the token was issued; null for one of the service's own clients. */
  readonly clientId: string | null;
  readonly expiresAt: Timestamp;
}

/**
 * Verifies the service's own id tokens. All others are rejected: only one algorithm, one type and one issuer are accepted, and only keys that are in
 * the store. The audience must be one of the service's own clients, or have the form of the id of an organization's client. Whether that client
 * exists is checked elsewhere.
 */
export class IdTokens {
  readonly #parts: IdTokensParts;

  constructor(parts: IdTokensParts) {
    this.#parts = parts;
  }

  /** Returns undefined for a token that is not valid. An expired token is returned, and the caller checks its time. */
  async verify(text: string): Promise<IdTokenSubject | undefined> {
    const token = parse(text);
    if (token === undefined) return undefined;
    const key = await this.#parts.publicKey(token.keyId);
    if (key === undefined) return undefined;
    if (!verify("RSA-SHA256", Buffer.from(token.signed), key, token.signature)) return undefined;
    return subjectOf(token.claims, this.#parts.issuer(), this.#parts.now());
  }
}

/** The service's own id tokens have about 900 characters. */
const maxLength = 4_096;
/** The form is three parts of base64url; the last is the signature of a key of 2,048 bits. */
const form = /^([\w-]+)\.([\w-]+)\.([\w-]{342})$/;

/** Tells by the form alone whether a text may be an id token of this service. */
export function looksLikeIdToken(text: string): boolean {
  return text.length <= maxLength && form.test(text);
}

interface ParsedToken {
  readonly keyId: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signed: string;
  readonly signature: Buffer;
}

function parse(text: string): ParsedToken | undefined {
  if (!looksLikeIdToken(text)) return undefined;
  const [header = "", payload = "", signature = ""] = text.split(".");
  const { alg, kid, ...others } = objectIn(header) ?? {};
  // The headers of the service's own tokens have no other fields. `typ` would name another kind of token; `jku`, `jwk`, `x5u` and `crit` would be
  // instructions from a stranger.
  if (alg !== "RS256" || typeof kid !== "string" || Object.keys(others).length > 0) return undefined;
  const claims = objectIn(payload);
  const bytes = Buffer.from(signature, "base64url");
  // The last character of a signature has unused bits, so only one of its spellings is accepted.
  if (claims === undefined || bytes.toString("base64url") !== signature) return undefined;
  return { keyId: kid, claims, signed: `${header}.${payload}`, signature: bytes };
}

function objectIn(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The clocks of the nodes may differ by this much. */
const maxSkewSeconds = 60;

function subjectOf(
  { iss, aud, sub, sid, iat, exp, nbf }: Readonly<Record<string, unknown>>,
  issuer: string,
  now: Timestamp,
): IdTokenSubject | undefined {
  if (iss !== issuer || typeof aud !== "string") return undefined;
  const isOwnClient = clientIds.includes(aud);
  if (!isOwnClient && organizationOfClient(aud) === undefined) return undefined;
  if (!isId(sub) || !isId(sid) || !isTime(iat) || !isTime(exp)) return undefined;
  const latest = Math.floor(now / 1_000) + maxSkewSeconds;
  if (iat > latest || exp - iat > idTokenSeconds) return undefined;
  if (nbf !== undefined && !(isTime(nbf) && nbf <= latest)) return undefined;
  return { userId: sub, sessionId: sid, clientId: isOwnClient ? null : aud, expiresAt: exp * 1_000 };
}

function isId(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
