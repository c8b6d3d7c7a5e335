import type { Problem } from "../../core/problem.ts";
import { canonicalIssuer } from "./provider.ts";
import type { ProviderEntry } from "./provider-entry.ts";

/**
 * Finds mistakes within an entry, and conflicts between entries. Each entry already has the right shape. The keys of `entries` are the places in the
 * list.
 */
export function findConflicts(entries: ReadonlyMap<number, ProviderEntry>): Problem[] {
  const problems: Problem[] = [];
  const ids = new Map<string, number>();
  const domains = new Map<string, number>();
  const audiences = new Map<string, number>();

  for (const [index, entry] of entries) {
    const say = (field: string, detail: string | undefined) => {
      if (detail !== undefined) problems.push({ pointer: `/${index}/${field}`, detail });
    };
    say("id", takenBefore(ids, entry.id, index));
    say("issuer", issuerProblem(entry.issuer));
    say("scopes", entry.scopes?.includes("openid") === false ? "must name `openid`" : undefined);
    if (entry.clientSecret !== undefined && entry.clientSecretFile !== undefined) {
      say("clientSecretFile", "must not be set together with `clientSecret`; keep one of them");
    }
    entry.emailDomains.forEach((domain, at) => {
      // Each domain may belong to one provider only, so that an e-mail address leads to one provider.
      say(`emailDomains/${at}`, takenBefore(domains, domain.toLowerCase(), index));
    });
    for (const [field, detail] of roleProblems(entry)) say(field, detail);
    if (entry.bearer === undefined) continue;
    const { audience } = entry.bearer;
    say("bearer/audience", takenBefore(audiences, `${canonicalIssuer(entry.issuer)} ${audience}`, index));
    const isClient = [...entries.values()].some(
      ({ issuer, clientId }) => clientId === audience && canonicalIssuer(issuer) === canonicalIssuer(entry.issuer),
    );
    if (isClient) say("bearer/audience", idTokensForAll);
  }
  return problems;
}

const idTokensForAll =
  "must not be a clientId: id tokens have that audience, and would be accepted as access tokens. Register a separate API at the issuer, and use its audience";

function takenBefore(seen: Map<string, number>, value: string, index: number): string | undefined {
  const before = seen.get(value);
  if (before === undefined) seen.set(value, index);
  return before === undefined ? undefined : `is taken: /${before} has it already`;
}

function issuerProblem(issuer: string): string | undefined {
  const url = URL.parse(issuer);
  if (url === null || !/^https?:$/.test(url.protocol)) return "must be an https address";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or a password";
  if (/[?#]/.test(issuer)) return "must have neither query nor fragment";
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return "must be an https address: with http anybody on the network could sign in as anyone (http is accepted only for this machine)";
  }
  return undefined;
}

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

function* roleProblems({ roleClaim, roles = {}, defaultRoles }: ProviderEntry): Generator<[string, string]> {
  const isMapped = Object.keys(roles).length > 0;
  if (isMapped && roleClaim === undefined)
    yield ["roleClaim", "is missing: `roles` needs the claim whose values it maps"];
  if (!isMapped && roleClaim !== undefined)
    yield ["roles", "is missing: it says which roles the values of `roleClaim` give"];
  if (!isMapped && defaultRoles === undefined) {
    yield ["defaultRoles", "is missing: if neither it nor `roles` is set, nobody can sign in"];
  }
}
