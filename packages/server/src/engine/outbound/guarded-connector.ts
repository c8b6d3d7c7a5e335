import { Resolver, lookup as systemLookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import type { buildConnector } from "undici";
import { type AddressRule, addressOf } from "./address-rule.ts";

/** Resolves a name to its addresses. Throws when it has none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/**
 * Connects only to addresses that the rule allows. A name is resolved once for each connection, and the connection goes to one of exactly those
 * addresses, so a different answer at the next look-up (DNS rebinding) changes nothing. TLS still checks the certificate against the name.
 */
export function guardedConnector(
  build: typeof buildConnector,
  rule: AddressRule,
  resolve: ResolveHost = hostResolver(rule),
): buildConnector.connector {
  const lookup = guardedLookup(rule, resolve);
  const connect = build({
    allowH2: false,
    timeout: connectTimeoutMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
    lookup,
  });
  return (options, callback) => {
    const { hostname } = options;
    // When the host is an address, no name is resolved, so the check in `guardedLookup` does not see it.
    const literal = addressOf(hostname);
    if (literal !== undefined && !rule.allowsAddress(literal)) {
      callback(new NotConnectedError(new RefusedAddressError()), null);
      return;
    }
    connect(options, (error, socket) => {
      if (error !== null) {
        callback(new NotConnectedError(error), null);
        return;
      }
      // Checks again with the address of the open connection.
      if (!rule.allowsHost(hostname) && !rule.allowsAddress(socket.remoteAddress ?? "")) {
        socket.destroy();
        callback(new NotConnectedError(new RefusedAddressError()), null);
        return;
      }
      callback(null, socket);
    });
  };
}

/** Thrown when no connection was made, so nothing was sent. `cause` says why. */
export class NotConnectedError extends Error {
  override readonly cause: Error;

  constructor(cause: Error) {
    super(cause.message);
    this.name = "NotConnectedError";
    this.cause = cause;
  }
}

export class RefusedAddressError extends Error {}

/** Thrown when the look-up of a name gave no address. `code` is the resolver's code, such as ENOTFOUND. */
export class UnresolvedNameError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`The name does not resolve (${code}).`);
    this.code = code;
  }
}

const connectTimeoutMs = 10_000;
/**
 * The time for which one address of a name is tried before the next address. A connection around the world may take longer than the platform's
 * default.
 */
const attemptTimeoutMs = 2_000;

/**
 * Returns the function that looks up names. It gives only the addresses that the rule allows. With `autoSelectFamily` the platform asks for all of
 * them, and tries one after the other.
 */
function guardedLookup(rule: AddressRule, resolve: ResolveHost): LookupFunction {
  return (hostname, _options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const allowed = rule.allowsHost(hostname) ? addresses : addresses.filter((one) => rule.allowsAddress(one));
        if (allowed.length === 0) return callback(new RefusedAddressError(), []);
        return callback(
          null,
          allowed.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
        );
      },
      (error: { code?: unknown }) => callback(new UnresolvedNameError(String(error.code ?? "no answer")), []),
    );
  };
}

/**
 * Resolves names. For names that the operator lists it uses the system's resolver, with /etc/hosts and search domains. For other names it asks the
 * name servers directly. The system's resolver would hold a thread of the process while it waits, so slow names from one organization would delay
 * everybody's look-ups. If `nameServers` is left out, the function asks the name servers of the system.
 */
export function hostResolver(rule: AddressRule, nameServers?: readonly string[]): ResolveHost {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  return async (hostname) => {
    if (rule.allowsHost(hostname)) return (await systemLookup(hostname, { all: true })).map(({ address }) => address);
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = [ipv4, ipv6].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length === 0 && ipv4.status === "rejected") throw ipv4.reason;
    return addresses;
  };
}
