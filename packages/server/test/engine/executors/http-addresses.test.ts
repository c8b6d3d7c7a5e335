import { lookup as systemLookup } from "node:dns";
import { once } from "node:events";
import { createServer } from "node:net";
import { defaultSettings, failureOf, localSettings, outputOf } from "@stepwell/testing/functions/http-calls.ts";
import { NameServer } from "@stepwell/testing/functions/name-server.ts";
import { RawServer } from "@stepwell/testing/functions/raw-server.ts";
import { ScriptedServer } from "@stepwell/testing/functions/scripted-server.ts";
import { buildConnector } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { AddressRule } from "../../../src/engine/outbound/address-rule.ts";
import {
  guardedConnector,
  hostResolver,
  NotConnectedError,
  RefusedAddressError,
} from "../../../src/engine/outbound/guarded-connector.ts";

const publicOnly = new AddressRule([]);

test.each([
  ["this network", "0.0.0.0", "0.1.2.3"],
  ["private networks", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd00:ec2::254"],
  ["loopback", "127.0.0.1", "127.255.255.254", "::1"],
  ["link-local addresses and the metadata of clouds", "169.254.169.254", "169.254.170.2", "fe80::1", "fe80::1%eth0"],
  ["carrier NAT, and the metadata of another cloud", "100.64.0.1", "100.127.255.255", "100.100.100.200"],
  ["addresses of platform services that look like public ones", "168.63.129.16", "192.0.0.192"],
  ["documentation", "192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
  ["benchmarks", "198.18.0.1", "198.19.255.255", "2001:2::1"],
  ["multicast, reserved and broadcast", "224.0.0.1", "240.0.0.1", "255.255.255.255", "ff02::1"],
  ["unspecified and IPv4-compatible", "::", "::7f00:1", "::127.0.0.1"],
  ["mapped", "::ffff:127.0.0.1", "::ffff:7f00:1", "0:0:0:0:0:ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:0:0"],
  ["NAT64", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::1", "64:ff9b::", "64:ff9b:1::1"],
  ["6to4", "2002:7f00:1::1", "2002:808:808::1"],
  ["Teredo", "2001::1", "2001:0:7f00:1::1"],
  ["translated addresses, and addresses that are not assigned yet", "::ffff:0:7f00:1", "4000::1", "5f00::1", "100::1"],
  ["texts that are not addresses", "", "localhost", "1.2.3", "8.8.8.8.8"],
])("steps cannot call %s", (_, ...addresses) => {
  expect(addresses.filter((address) => publicOnly.allowsAddress(address))).toEqual([]);
});

test("steps can call public addresses, also as IPv4-mapped IPv6 addresses and through NAT64", () => {
  const addresses = ["1.1.1.1", "172.32.0.1", "100.128.0.1", "223.255.255.255", "2606:4700::1111", "2a00::1"];
  const embedded = ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "64:ff9b::800:0"];
  expect([...addresses, ...embedded].filter((address) => !publicOnly.allowsAddress(address))).toEqual([]);
});

test("the operator lists additional addresses, networks and names that steps can call, in any spelling", () => {
  const { httpStepAllowedAddresses } = readConfig({
    STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES: "10.20.0.0/16, 192.168.1.7, fd12::/16, Billing.Internal.",
  });
  const rule = new AddressRule(httpStepAllowedAddresses);
  const allowed = ["10.20.3.4", "::ffff:10.20.3.4", "64:ff9b::a14:304", "192.168.1.7", "fd12::7"];
  expect(allowed.filter((address) => !rule.allowsAddress(address))).toEqual([]);
  expect(["10.21.0.1", "192.168.1.8", "fd13::7", "127.0.0.1"].filter((one) => rule.allowsAddress(one))).toEqual([]);
  expect(["billing.internal", "BILLING.internal."].map((host) => rule.allowsHost(host))).toEqual([true, true]);
  expect(rule.allowsHost("a.billing.internal")).toBe(false);
});

test.each([
  "10.0.0.0/33",
  "10.0.0",
  "300.1.1.1",
  "0x7f000001",
  "*.internal",
  "http://billing",
  "a b",
  "-a",
  "fd00::/129",
])("%s is an invalid value of the setting, and the start reports it", (item) => {
  expect(() => readConfig({ STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES: `10.0.0.1,${item}` })).toThrow(
    /STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES must be IP addresses, networks/,
  );
});

describe("this machine, if the operator does not allow it,", () => {
  let listener: RawServer;
  beforeAll(async () => {
    listener = await RawServer.start(() => {}, "::");
  });
  afterAll(() => listener[Symbol.asyncDispose]());

  test.each([
    ...["127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001"],
    ...["127.000.000.001", "127。0。0。1", "①②⑦.⓪.⓪.①", "%31%32%37.0.0.1", "127.0.0.1.", "127.8.8.8", "0", "0.0.0.0"],
    ...["localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.localhost.", "loc%61lhost", "ｌocalhost"],
    ...["[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:FFFF:7F00:0001]"],
    ...["[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]", "[2002:7f00:1::]", "[::ffff:0:127.0.0.1]"],
  ])("cannot be reached as %s", async (host) => {
    const { kind, error } = await failureOf({ url: `http://${host}:${listener.port}/` }, { settings: defaultSettings });
    expect({ kind, error }).toEqual({
      kind: "permanent",
      error: {
        code: "ExecutorError",
        type: "InvalidRequest",
        message: expect.stringMatching(/^In the step's config \/url .*STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES\.$/),
      },
    });
    expect(listener.connections).toEqual([]);
  });

  test.each([["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], ["10.0.0.1", "169.254.169.254", "fe80::1", "192.168.0.1"]])(
    "cannot be reached by a name for %s",
    async (...addresses) => {
      const call = { settings: defaultSettings, resolve: async () => addresses };
      const { kind, error } = await failureOf({ url: `http://api.test:${listener.port}/orders?key=k` }, call);
      expect({ kind, type: error.type }).toEqual({ kind: "permanent", type: "AddressRefused" });
      expect(error.message).toBe(
        `GET http://api.test:${listener.port}/orders leads to an address that steps may not call: it is not public. The operator of the service can allow it with STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES.`,
      );
      expect(listener.connections).toEqual([]);
    },
  );

  test("cannot be reached when a connector gets an address instead of a name, or when the platform connects to an address that was not checked", async () => {
    const connectorOf = (build: typeof buildConnector) => guardedConnector(build, publicOnly, async () => ["1.1.1.1"]);
    const unguarded: typeof buildConnector = (options) => buildConnector({ ...options, lookup: systemLookup });
    expect(await causeOf(connectorOf(buildConnector), "127.0.0.1", listener.port)).toBeInstanceOf(RefusedAddressError);
    expect(listener.connections).toEqual([]);
    expect(await causeOf(connectorOf(unguarded), "localhost", listener.port)).toBeInstanceOf(RefusedAddressError);
  });
});

test("a name with allowed and forbidden addresses is called only at the allowed ones", async () => {
  await using allowed = await ScriptedServer.start((response) => response.end("allowed"));
  const port = Number(allowed.endpoint.port);
  const refused = createServer();
  let refusedCount = 0;
  refused.on("connection", (socket) => {
    refusedCount++;
    socket.destroy();
  });
  refused.listen(port, "127.0.0.2");
  await once(refused, "listening");
  try {
    const settings = { ...defaultSettings, httpStepAllowedAddresses: ["127.0.0.1"] };
    const resolve = async () => ["127.0.0.2", "10.0.0.1", "127.0.0.1"];
    expect(await outputOf({ url: `http://api.test:${port}/` }, { settings, resolve })).toMatchObject({
      body: "allowed",
    });
    expect(refusedCount).toBe(0);
  } finally {
    refused.close();
  }
});

test("a name server that gives another address each time (DNS rebinding) leads only to the checked address", async () => {
  await using server = await ScriptedServer.start((response) => response.end("judged"));
  await using inside = await RawServer.start(() => {}, "127.0.0.2");
  const names: NameServer = await NameServer.start(() => [names.questions.length === 1 ? "127.0.0.1" : "127.0.0.2"]);
  try {
    const settings = { ...defaultSettings, httpStepAllowedAddresses: ["127.0.0.1"] };
    const resolve = hostResolver(new AddressRule(settings.httpStepAllowedAddresses), [names.address]);
    const url = (port: number | string) => `http://api.test:${port}/`;
    expect(await outputOf({ url: url(server.endpoint.port) }, { settings, resolve })).toMatchObject({ body: "judged" });
    expect(names.questions).toEqual(["api.test"]);
    const { error } = await failureOf({ url: url(inside.port) }, { settings, resolve });
    expect(error.type).toBe("AddressRefused");
    expect(names.questions).toHaveLength(2);
    expect(inside.connections).toEqual([]);
  } finally {
    await names[Symbol.asyncDispose]();
  }
});

test("a name that is unknown to the name servers, or has no address, is not called", async () => {
  await using names = await NameServer.start((name) => (name === "empty.test" ? [] : undefined));
  const resolve = hostResolver(publicOnly, [names.address]);
  for (const [host, code] of [
    ["unknown.test", "ENOTFOUND"],
    ["empty.test", "ENODATA"],
  ]) {
    const { kind, error } = await failureOf({ url: `http://${host}/` }, { resolve });
    expect({ kind, type: error.type }).toEqual({ kind: "transient", type: "NameNotResolved" });
    expect(error.message).toContain(`(${code})`);
  }
});

test("a name that the operator lists is called at any address, and the system resolves it", async () => {
  await using server = await ScriptedServer.start((response) => response.end("here"));
  const url = `http://localhost:${server.endpoint.port}/`;
  const settings = { ...localSettings, httpStepAllowedAddresses: ["localhost"] };
  expect(await outputOf({ url }, { settings })).toMatchObject({ body: "here" });
  const byAddress = await failureOf({ url: server.endpoint.href }, { settings });
  expect(byAddress.error.type).toBe("InvalidRequest");
});

test("proxy settings of the environment are not used", async () => {
  await using proxy = await RawServer.start(() => {});
  await using server = await ScriptedServer.start((response) => response.end("direct"));
  const before = { ...process.env };
  Object.assign(process.env, { HTTP_PROXY: proxy.url, http_proxy: proxy.url, NODE_USE_ENV_PROXY: "1" });
  try {
    expect(await outputOf({ url: server.endpoint.href })).toMatchObject({ body: "direct" });
  } finally {
    for (const name of ["HTTP_PROXY", "http_proxy", "NODE_USE_ENV_PROXY"]) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
  expect(proxy.connections).toEqual([]);
});

test.each([22, 25, 465, 587, 1023])("port %i is not called, since other protocols use it", async (port) => {
  const { kind, error } = await failureOf({ url: `http://127.0.0.1:${port}/` });
  expect({ kind, type: error.type }).toEqual({ kind: "permanent", type: "InvalidRequest" });
  expect(error.message).toContain(`names port ${port}; steps may call only the ports 80 and 443, and ports from 1024`);
});

async function causeOf(connect: buildConnector.connector, hostname: string, port: number): Promise<Error | undefined> {
  return await new Promise((resolve) => {
    connect({ hostname, host: hostname, protocol: "http:", port: String(port) }, (error, socket) => {
      socket?.destroy();
      resolve(error instanceof NotConnectedError ? error.cause : undefined);
    });
  });
}
