import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { useCluster } from "../../engine/node/cluster.ts";

const cluster = useCluster(1);

test("a client that disconnects in the middle of a body adds nothing to the log", async () => {
  const node = await cluster.addProcess({ STEPWELL_LOG_LEVEL: "error" });
  const { baseUrl } = node.ready;
  // The first request loads all modules that are loaded on first use.
  expect((await fetch(`${baseUrl}/oidc/.well-known/openid-configuration`)).status).toBe(200);
  // By now, the start has logged its warnings about the tests' database.
  const toldBefore = node.output;
  for (let times = 0; times < 20; times += 1) {
    const socket = connect(Number(new URL(baseUrl).port), "localhost");
    await once(socket, "connect");
    const head =
      "POST /oidc/token HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 100";
    socket.end(`${head}\r\n\r\ngrant_type=refresh_token`);
    socket.resume();
    await once(socket, "close");
  }
  expect((await fetch(`${baseUrl}/health/ready`)).status).toBe(200);
  expect(node.output).toBe(toldBefore);
});
