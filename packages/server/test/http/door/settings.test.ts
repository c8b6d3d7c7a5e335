import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { open, readAll } from "@stepwell/testing/raw.ts";
import { TestService } from "@stepwell/testing/service.ts";
import { onOneStore, type StoreHome } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

async function started(home: StoreHome, settings: Record<string, string>): Promise<TestService & AsyncDisposable> {
  const service = new TestService(home, settings);
  await service.start();
  return Object.assign(service, { [Symbol.asyncDispose]: () => service.stop() });
}

onOneStore((home) => {
  test("the path of the base URL prefixes every route, the API document, and Location", async () => {
    const port = String(await findFreePort());
    const baseUrl = `http://localhost:${port}/api/flow`;
    await using service = await started(home, { STEPWELL_PORT: port, STEPWELL_BASE_URL: `${baseUrl}/` });
    expect(service.baseUrl).toBe(baseUrl);
    const { api } = await service.newOrganization();
    const created = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "w" } });
    const location = created.headers.get("location") ?? "";
    expect(location.startsWith("/api/flow/organizations/")).toBe(true);
    const { raw } = await api.document();
    expect(raw).toMatchObject({ servers: [{ url: baseUrl }] });
    expect(Object.keys(raw.paths)).toContain("/organizations/{organizationId}/workflows");
    const outside = await fetch(`http://localhost:${port}/organizations`);
    expect(outside.status).toBe(404);
    const otherMethod = await fetch(`${baseUrl}/organizations`, { method: "DELETE" });
    expect([otherMethod.status, otherMethod.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS, POST"]);
  });

  test("only pages of listed origins can call the API, and they may send preflight requests", async () => {
    const good = "https://app.example.org";
    await using service = await started(home, { STEPWELL_CORS_ORIGINS: `${good}, https://other.example.org` });
    const url = `${service.baseUrl}/organizations`;
    const ask = {
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,amz-sdk-invocation-id",
    };
    const asked = await fetch(url, { method: "OPTIONS", headers: { origin: good, ...ask } });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-origin")).toBe(good);
    expect(asked.headers.get("access-control-allow-headers")).toBe(ask["access-control-request-headers"]);
    expect(asked.headers.get("vary")).toBe("Origin, Access-Control-Request-Headers");
    expect(asked.headers.get("access-control-allow-credentials")).toBeNull();
    const called = await fetch(url, { headers: { origin: good } });
    expect([called.status, called.headers.get("access-control-allow-origin")]).toEqual([401, good]);
    expect(called.headers.get("vary")).toBe("Origin");
    expect(called.headers.get("access-control-expose-headers")).toContain("x-amzn-requestid");
    for (const origin of ["https://evil.example.org", "null", `${good}.evil.org`, good.toUpperCase()]) {
      const refused = await fetch(url, { method: "OPTIONS", headers: { origin, ...ask } });
      expect(refused.headers.get("access-control-allow-origin")).toBeNull();
      expect(refused.status).toBe(405);
    }
  });

  test("Prometheus reads this node's metrics on a separate port, and not on the public one", async () => {
    const port = await findFreePort();
    await using service = await started(home, { STEPWELL_METRICS_PORT: String(port) });
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    await submitAndWait(api, workflowId);
    await api.refused("GetJob", "NotFoundError", { params: { jobId: "x" } });
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(text).toMatch(/stepwell_jobs_total\{outcome="submitted"\} 1/);
    expect(text).toMatch(/stepwell_jobs_total\{outcome="succeeded"\} 1/);
    expect(text).toMatch(/stepwell_steps_total\{outcome="success"\} 2/);
    expect(text).toMatch(/stepwell_http_request_seconds_count\{operation="SubmitJob",status="201"\} 1/);
    expect(text).toMatch(/stepwell_http_request_seconds_count\{operation="GetJob",status="404"\} 1/);
    expect(text).toMatch(/stepwell_commit_seconds_count \d+/);
    expect(text).toMatch(/stepwell_http_requests_in_flight 0/);
    expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404);
    expect((await fetch(`${service.baseUrl}/metrics`)).status).toBe(404);
  });

  test("connections above the maximum are not accepted", async () => {
    await using service = await started(home, { STEPWELL_MAX_CONNECTIONS: "1" });
    const first = await open(service.port);
    const second = await open(service.port);
    second.write("GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(await readAll(second, 1_000)).toBe("");
    first.write("GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(await readAll(first, 1_000)).toContain("200 OK");
  });
});
