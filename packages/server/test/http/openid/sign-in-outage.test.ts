import { newPerson } from "@stepwell/testing/people.ts";
import { Splitter } from "@stepwell/testing/proxies/splitter.ts";
import { TcpProxy } from "@stepwell/testing/proxies/tcp-proxy.ts";
import { signIn } from "@stepwell/testing/sign-in.ts";
import { expect, test } from "vitest";
import { useCluster } from "../../engine/node/cluster.ts";

const splitter = await Splitter.listen();
const cluster = useCluster(1, {
  STEPWELL_BASE_URL: splitter.url,
  STEPWELL_DATABASE_TIMEOUT_MS: "1000",
  STEPWELL_LOG_LEVEL: "silent",
});

async function refresh(port: number, refreshToken: string) {
  const body = new URLSearchParams({
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    client_id: "stepwell-dashboard",
  });
  const response = await fetch(`http://localhost:${port}/oidc/token`, { method: "POST", body });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

test("an exchange that is interrupted leaves the refresh token valid, or its answer available", async () => {
  splitter.between([cluster.node(0).port]);
  const proxy = await TcpProxy.before(cluster.databaseUrl);
  const cut = await cluster.addNode({ DATABASE_URL: proxy.url });
  const { refreshToken } = await signIn(splitter.url, await newPerson(cluster.node(0)));
  // After this request the node has its keys in memory, so the next statements are those of the exchange.
  expect((await refresh(cut.port, "unknown")).status).toBe(400);

  void proxy.onNext("store_refresh_answer", "lost");
  const lost = await refresh(cut.port, refreshToken);
  expect(lost.status).toBe(503);
  const first = await refresh(cluster.node(0).port, refreshToken);
  expect(first.status).toBe(200);

  void proxy.onNext("consume_oidc_record", "answer-swallowed");
  const swallowed = await refresh(cut.port, first.body.refresh_token ?? "");
  expect(swallowed.status).toBe(503);
  expect((await refresh(cluster.node(0).port, first.body.refresh_token ?? "")).status).toBe(200);

  await cluster.stopNode(cut);
  await proxy.stop();
  await splitter.stop();
}, 30_000);

test("the sign-in reports an unreachable store, and recovers by itself", async () => {
  const proxy = await TcpProxy.before(cluster.databaseUrl);
  const node = await cluster.addNode({ DATABASE_URL: proxy.url });
  const page = () => fetch(`http://localhost:${node.port}/oidc/device`, { headers: { accept: "text/html" } });
  expect((await page()).status).toBe(200);
  const cookie = "stepwell-session=x";
  await proxy.refuse();
  const away = await fetch(`http://localhost:${node.port}/oidc/device`, { headers: { accept: "text/html", cookie } });
  expect(away.status).toBe(503);
  expect(await away.text()).toContain("The store is out of reach");
  await proxy.pass();
  await expect.poll(async () => (await page()).status, { timeout: 10_000 }).toBe(200);
  await cluster.stopNode(node);
  await proxy.stop();
}, 30_000);
