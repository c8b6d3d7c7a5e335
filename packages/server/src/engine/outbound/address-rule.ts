import { BlockList, isIPv4, isIPv6 } from "node:net";

/**
 * The rule that says which addresses the service may call for anybody except its operator: all public addresses, and the addresses that the operator
 * lists. What counts is the address of the open connection (`guarded-connector.ts`). `problemOf` also checks the address in a URL, but only to give a
 * clear message early.
 */
export class AddressRule {
  readonly #allowed = new BlockList();
  readonly #allowedHosts: ReadonlySet<string>;

  /** Addresses, networks and names of hosts, as `networksAndHosts` in `setting.ts` reads them. */
  constructor(allowed: readonly string[]) {
    const hosts: string[] = [];
    for (const item of allowed) {
      const [address = "", bits] = item.split("/");
      if (isIPv4(address)) this.#allowed.addSubnet(address, Number(bits ?? 32), "ipv4");
      else if (isIPv6(address)) this.#allowed.addSubnet(address, Number(bits ?? 128), "ipv6");
      else hosts.push(item);
    }
    this.#allowedHosts = new Set(hosts);
  }

  /** Whether the operator lists this name. The service may then call it at any address. */
  allowsHost(hostname: string): boolean {
    return this.#allowedHosts.has(withoutRootDot(hostname));
  }

  allowsAddress(address: string): boolean {
    const ipv4 = isIPv4(address) ? address : embeddedIpv4(address);
    if (ipv4 !== undefined) return this.#allowed.check(ipv4, "ipv4") || !internal.check(ipv4, "ipv4");
    if (!isIPv6(address)) return false;
    return this.#allowed.check(address, "ipv6") || (global.check(address, "ipv6") && !internal.check(address, "ipv6"));
  }

  /** Returns what is wrong with a URL as it stands, before any name is resolved; undefined when nothing is wrong. */
  problemOf(url: URL): string | undefined {
    if (url.protocol !== "http:" && url.protocol !== "https:") return "must begin with http:// or https://";
    if (url.username !== "" || url.password !== "")
      return "must not contain a user or a password, because everybody who may read the workflow would see it";
    if (!isCallablePort(url.port))
      return `names port ${url.port}; steps may call only the ports 80 and 443, and ports from 1024`;
    return this.#isRefusedHost(url.hostname) ? `leads to an address that ${whyRejected}` : undefined;
  }

  #isRefusedHost(hostname: string): boolean {
    if (this.allowsHost(hostname)) return false;
    const address = addressOf(hostname);
    if (address !== undefined) return !this.allowsAddress(address);
    return /(^|\.)localhost$/.test(withoutRootDot(hostname));
  }
}

/** The end of a message about an address that the rule refuses. It does not say to which address a name leads, because that may be private. */
export const whyRejected =
  "steps may not call: it is not public. The operator of the service can allow it with STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES";

/**
 * The address that a URL has as its host; undefined for a name. The platform's `URL` has already turned 0x7f.1, 2130706433 and the like into
 * 127.0.0.1.
 */
export function addressOf(hostname: string): string | undefined {
  if (isIPv4(hostname)) return hostname;
  const inBrackets = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIPv6(inBrackets) ? inBrackets : undefined;
}

/**
 * Whether a port may be called. Apart from 80 and 443, the ports below 1024 belong to other protocols, such as mail. Their servers could read a
 * prepared body as commands.
 */
function isCallablePort(port: string): boolean {
  return port === "" || port === "80" || port === "443" || Number(port) >= 1024;
}

function withoutRootDot(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, "");
}

/**
 * Finds the IPv4 address that an IPv6 address contains: as a mapped address (::ffff:0:0/96), or for NAT64 (64:ff9b::/96), with which a machine
 * without IPv4 reaches public servers. The other embeddings (6to4, Teredo, IPv4-compatible) are out of use, and are refused below as a whole.
 */
function embeddedIpv4(address: string): string | undefined {
  const hostname = URL.parse(`http://[${address}]`)?.hostname ?? "";
  const [, groups] = /^\[(?:::ffff:|64:ff9b::)((?:[0-9a-f]+:)?[0-9a-f]*)\]$/.exec(hostname) ?? [];
  if (groups === undefined) return undefined;
  const [low = "", high = ""] = groups.split(":").reverse();
  const bytes = [high, low].flatMap((group) => {
    const number = Number.parseInt(group || "0", 16);
    return [number >> 8, number & 0xff];
  });
  return bytes.join(".");
}

/** The only network from which global IPv6 addresses are given out. Addresses outside it are local or reserved, or contain another address. */
const global = new BlockList();
global.addSubnet("2000::", 3, "ipv6");

/** The special-purpose addresses of IANA's registries that are not globally reachable, and addresses that lead to a cloud's own services. */
const internal = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8], // this network; 0.0.0.0 reaches this machine
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // carrier NAT, and Alibaba Cloud's metadata
  ["127.0.0.0", 8], // loopback
  ["168.63.129.16", 32], // Azure's platform services: internal, although the address is in a public range
  ["169.254.0.0", 16], // link-local, and the metadata of most clouds
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // protocol assignments, and Oracle Cloud's metadata
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16], // private
  ["198.18.0.0", 15], // benchmarks
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, and broadcast
] as const)
  internal.addSubnet(network, bits, "ipv4");
for (const [network, bits] of [
  ["2001::", 23], // protocol assignments: Teredo, benchmarks, ORCHID
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4
  ["3fff::", 20], // documentation
] as const)
  internal.addSubnet(network, bits, "ipv6");
