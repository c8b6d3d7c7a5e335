/** An external issuer with which the people of one organization sign in, as the configuration describes it. */
export interface ExternalProvider {
  /** The id of the provider, in URLs and in the list of sessions. */
  readonly id: string;
  /** The name that people see. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client, which proves itself by PKCE alone. */
  readonly clientSecret: string | undefined;
  readonly scopes: readonly string[];
  /** The domains, in lower case. An address counts only if its domain is one of these; no two providers have the same domain. */
  readonly emailDomains: readonly string[];
  /** True when addresses count even if the issuer does not say whether it verified them. */
  readonly trustsEmail: boolean;
  readonly organizationId: string;
  /** The name of the claim that gives roles, or a JSON pointer to it. */
  readonly roleClaim: string | undefined;
  /** Maps values of that claim to roles. */
  readonly roles: ReadonlyMap<string, readonly string[]>;
  /** The roles of people to whom the claim gives none. */
  readonly defaultRoles: readonly string[];
  /** Access tokens of the issuer for this audience are accepted as the Bearer value. */
  readonly bearerAudience: string | undefined;
}

/** Tells whether the address has one of the provider's domains. A provider vouches only for such addresses. */
export function hasDomainOf({ emailDomains }: Pick<ExternalProvider, "emailDomains">, email: string): boolean {
  const domain = domainOf(email);
  return domain !== undefined && emailDomains.includes(domain);
}

/**
 * Returns the domain in lower case; undefined for a text that is no plain address. Letters outside of ASCII are refused: some become ASCII letters in
 * lower case (the Kelvin sign becomes k), and then two addresses look like one.
 */
function domainOf(email: string): string | undefined {
  return plainAddress.exec(email)?.[1]?.toLowerCase();
}

const plainAddress = /^(?=.{3,254}$)[!-?A-~]{1,64}@([a-zA-Z0-9.-]+)$/;

/** The value by which a session names this way of signing in. */
export function signInNameOf({ id }: Pick<ExternalProvider, "id">): string {
  return `sso:${id}`;
}

/** The address to which the issuer sends people back. It is registered at the issuer. */
export function redirectUriOf(publicUrl: string, { id }: Pick<ExternalProvider, "id">): string {
  return `${publicUrl}/oidc/callback/${id}`;
}

/** Returns the same spelling for an issuer whether or not there is a slash at the end of a bare host. */
export function canonicalIssuer(issuer: string): string {
  return URL.parse(issuer)?.href ?? issuer;
}
