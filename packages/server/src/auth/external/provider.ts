/** An issuer outside with which the people of one organization sign in, as the configuration describes it. */
export interface ExternalProvider {
  /** In addresses, and in the list of sessions. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: a public client, which proves itself by PKCE alone. */
  readonly clientSecret: string | undefined;
  readonly scopes: readonly string[];
  /** In lower case. An address counts only if its domain is one of these; no two providers have the same. */
  readonly emailDomains: readonly string[];
  /** Addresses count though the issuer does not say that it verified them. */
  readonly trustsEmail: boolean;
  readonly organizationId: string;
  /** The claim's name, or a JSON pointer to it. */
  readonly roleClaim: string | undefined;
  /** From a value of that claim to roles. */
  readonly roles: ReadonlyMap<string, readonly string[]>;
  /** For whom the claim gives none. */
  readonly defaultRoles: readonly string[];
  /** Its access tokens for this audience are taken as the Bearer value. */
  readonly bearerAudience: string | undefined;
}

/** What is vouched for: domain by domain, by one provider each. */
export function hasDomainOf({ emailDomains }: Pick<ExternalProvider, "emailDomains">, email: string): boolean {
  const domain = domainOf(email);
  return domain !== undefined && emailDomains.includes(domain);
}

/**
 * In lower case. Undefined for what is no plain address: letters outside of ASCII are refused, since some of them turn into others in lower
 * case (the Kelvin sign into a k), and then two addresses look like one.
 */
function domainOf(email: string): string | undefined {
  return plainAddress.exec(email)?.[1]?.toLowerCase();
}

const plainAddress = /^(?=.{3,254}$)[!-?A-~]{1,64}@([a-zA-Z0-9.-]+)$/;

/** What a session says of how it was begun. */
export function signInNameOf({ id }: Pick<ExternalProvider, "id">): string {
  return `sso:${id}`;
}

/** Where the issuer sends people back to. It is registered there. */
export function redirectUriOf(publicUrl: string, { id }: Pick<ExternalProvider, "id">): string {
  return `${publicUrl}/oidc/callback/${id}`;
}

/** However it is spelled: with or without the slash at the end of a bare host. */
export function canonicalIssuer(issuer: string): string {
  return URL.parse(issuer)?.href ?? issuer;
}
