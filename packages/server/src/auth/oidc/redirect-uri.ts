/**
 * Returns what is wrong with an address to which a client of an organization wants to be sent back; undefined when nothing is wrong. The address is
 * later compared as a text, so it must be written exactly as browsers write it.
 */
export function problemOfRedirectUri(uri: string, ownOrigins: readonly string[]): string | undefined {
  const parsed = URL.parse(uri);
  if (parsed === null) return "is not an absolute URL such as https://app.example.org/signed-in";
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") return "must begin with https://";
  if (parsed.username !== "" || parsed.password !== "" || /^https?:\/\/[^/?#]*@/i.test(uri)) {
    return "must not contain a user name or a password";
  }
  if (uri.includes("#")) return "must not have a fragment";
  if (uri.includes("*")) return "must be one address; wildcards are not supported";
  // The host goes into the content security policy of the sign-in's pages, where other characters would have a meaning.
  if (!/^[a-z0-9._-]+$/.test(parsed.hostname)) return "must have a host name of letters, digits, dots and hyphens";
  if (parsed.protocol === "http:" && !loopbackHosts.has(parsed.hostname)) {
    return "must begin with https://, except on localhost and 127.0.0.1";
  }
  if (parsed.href !== uri) return `must be written as browsers write it: ${parsed.href}`;
  if (ownOrigins.includes(parsed.origin)) return "must not be on this service's own site";
  return undefined;
}

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1"]);
