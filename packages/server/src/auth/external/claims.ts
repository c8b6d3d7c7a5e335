import type { ExternalProvider } from "./provider.ts";

/**
 * The claims of an issuer about a person, as far as the service uses them. They come from a token whose signature was verified. Claims that the token
 * lacks may come from the issuer's userinfo answer.
 */
export interface ExternalClaims {
  readonly issuer: string;
  readonly subject: string;
  /** An address that the issuer verified or that the configuration trusts. */
  readonly email: string | undefined;
  readonly name: string;
  /** Undefined when the claim that gives roles is missing. Empty when the configuration names no such claim. */
  readonly roleValues: readonly string[] | undefined;
}

/** The claims as the issuer sent them: any name, any value. */
export type RawClaims = Readonly<Record<string, unknown>>;

/** Returns undefined when there is no issuer or no usable subject: the claims then name nobody. */
export function readClaims(provider: ExternalProvider, raw: RawClaims): ExternalClaims | undefined {
  const { iss, sub } = raw;
  if (typeof iss !== "string" || typeof sub !== "string" || !isPrintable(sub, maxSubjectLength)) return undefined;
  const email = emailOf(provider, raw);
  return { issuer: iss, subject: sub, email, name: nameOf(raw, email), roleValues: roleValuesOf(provider, raw) };
}

/** OpenID Connect Core, section 2, sets this limit. */
const maxSubjectLength = 255;
const maxNameLength = 200;
const maxRoleValues = 1_000;

/**
 * Returns the person's address if the issuer verified it. If the issuer does not say whether it did, the address is returned only if the
 * configuration trusts the issuer's addresses. Every other address is ignored, since a person may have typed somebody else's address at the issuer.
 * OpenID Connect Core, section 5.1, makes `email_verified` a boolean.
 */
function emailOf({ trustsEmail }: ExternalProvider, { email, email_verified: isVerified }: RawClaims) {
  if (typeof email !== "string") return undefined;
  if (isVerified === true) return email;
  // Some issuers send the text "true" and not the boolean. It counts like a missing answer.
  const mayBeVerified = isVerified === undefined || isVerified === null || isVerified === "true";
  return trustsEmail && mayBeVerified ? email : undefined;
}

function nameOf({ name, preferred_username: userName }: RawClaims, email: string | undefined): string {
  const [found] = [name, userName, email?.split("@")[0]].flatMap((candidate) => {
    const text =
      typeof candidate === "string"
        ? candidate
            .toWellFormed()
            .replace(/\p{Cc}/gu, " ")
            .trim()
        : "";
    return text === "" ? [] : [text];
  });
  return (found ?? "Somebody").slice(0, maxNameLength).toWellFormed();
}

/**
 * Returns the values of the claim that gives roles; undefined when the claim is missing, an empty list when the configuration names no such claim.
 * The claim may be a text, a list of texts, or (as in `scope`) texts with spaces between them.
 */
export function roleValuesOf({ roleClaim }: ExternalProvider, raw: RawClaims): readonly string[] | undefined {
  if (roleClaim === undefined) return [];
  const value = claimAt(raw, roleClaim);
  if (value === undefined || value === null) return undefined;
  // A single value may contain spaces, so the whole text is also taken as one value.
  const values = typeof value === "string" ? [value, ...value.split(" ")] : Array.isArray(value) ? value : [];
  return values.filter((item) => typeof item === "string").slice(0, maxRoleValues);
}

function claimAt(raw: RawClaims, claim: string): unknown {
  if (!claim.startsWith("/")) return Object.hasOwn(raw, claim) ? raw[claim] : undefined;
  const tokens = claim
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  return tokens.reduce<unknown>((value, token) => {
    const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, token);
    return isObject ? (value as RawClaims)[token] : undefined;
  }, raw);
}

function isPrintable(text: string, maxLength: number): boolean {
  return text.length > 0 && text.length <= maxLength && !/\p{Cc}/u.test(text) && text.isWellFormed();
}

/**
 * Returns the names of the roles that a provider's claims give. Some of these names may belong to no role of the organization.
 */
export function rolesNamedBy({ roles }: ExternalProvider, values: readonly string[]): readonly string[] {
  return [...new Set(values.flatMap((value) => roles.get(value) ?? []))].sort();
}
