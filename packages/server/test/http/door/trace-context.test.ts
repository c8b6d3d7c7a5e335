import { PassThrough } from "node:stream";
import { exchange, requestText, statusOf } from "@stepwell/testing/raw.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import fastify from "fastify";
import { pino } from "pino";
import { expect, test } from "vitest";
import type { App } from "../../../src/http/door/app.ts";
import { logRequests } from "../../../src/http/door/request-log.ts";
import { readTraceContext } from "../../../src/http/door/trace-context.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentSpanId = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${parentSpanId}-01`;

test.each([
  ["of this version", traceparent],
  ["that is not sampled", `00-${traceId}-${parentSpanId}-00`],
  ["of a later version", `cc-${traceId}-${parentSpanId}-01`],
  ["of a later version with more parts", `cc-${traceId}-${parentSpanId}-01-what-will-be`],
])("a traceparent %s is accepted, and gets a span of this service", (_name, header) => {
  const context = readTraceContext({ traceparent: header });
  expect(context).toEqual({ traceId, parentSpanId, spanId: expect.stringMatching(/^[0-9a-f]{16}$/) });
});

test.each([
  ["is empty", ""],
  ["has a trace of zeros", `00-${"0".repeat(32)}-${parentSpanId}-01`],
  ["has a span of zeros", `00-${traceId}-${"0".repeat(16)}-01`],
  ["has the invalid version", `ff-${traceId}-${parentSpanId}-01`],
  ["has more parts than its version", `${traceparent}-more`],
  ["is in capitals", traceparent.toUpperCase()],
  ["is one character short", traceparent.slice(0, -1)],
  ["has something before it", ` ${traceparent}`],
  ["has a line break", `${traceparent}\n`],
  ["was sent twice", `${traceparent}, ${traceparent}`],
  ["tries to write into a log", `00-${traceId}-${parentSpanId}-01","level":60,"x":"`],
  ["is a megabyte long", `cc-${traceId}-${parentSpanId}-01-${"x".repeat(1_000_000)}`],
])("a traceparent that %s is ignored", (_name, header) => {
  expect(readTraceContext({ traceparent: header })).toBeUndefined();
});

test("the debug log has a line for each request, with its trace and without its query", async () => {
  const app = fastify();
  app.decorateRequest("trace", null);
  const lines = new PassThrough();
  logRequests(app as unknown as App, pino({ level: "debug" }, lines));
  app.get("/things/:thing", { schema: { operationId: "GetThing" } as object }, async () => "");
  const url = await app.listen({ port: 0 });
  await (await fetch(`${url}/things/1?token=secret`, { headers: { traceparent } })).text();
  const [line] = await lines.take(1).toArray();
  expect(JSON.parse(String(line))).toMatchObject({
    operation: "GetThing",
    path: "/things/1",
    method: "GET",
    status: 200,
    isWhole: true,
    traceId,
    parentSpanId,
  });
  await app.close();
});

onOneStore((home) => {
  const service = useService(home);

  test("an answer names the trace of its request, and names none if the request has no valid trace", async () => {
    const ask = async (headers: Record<string, string>) =>
      (await fetch(`${service.baseUrl}/health/live`, { headers })).headers.get("traceresponse");
    expect(await ask({ traceparent })).toMatch(new RegExp(`^00-${traceId}-(?!${parentSpanId})[0-9a-f]{16}-00$`));
    expect(await ask({})).toBeNull();
    expect(await ask({ traceparent: "00-hostile" })).toBeNull();
  });

  test("two traceparent headers count as none, and the request is answered as usual", async () => {
    const lines = ["Connection: close", `traceparent: ${traceparent}`, `Traceparent: ${traceparent}`];
    const answer = await exchange(service.port, requestText("GET /health/live", lines));
    expect(statusOf(answer)).toBe(200);
    expect(answer).not.toMatch(/traceresponse/i);
  });
});
