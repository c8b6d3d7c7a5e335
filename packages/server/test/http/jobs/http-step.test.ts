import { definitionOf, httpStep } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { RawServer } from "@stepwell/testing/functions/raw-server.ts";
import { ScriptedServer } from "@stepwell/testing/functions/scripted-server.ts";
import { TestService, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { describe, expect, test } from "vitest";

interface JobHistory {
  readonly entries: readonly { readonly type: string; readonly at: string; readonly attempt?: number }[];
}

onOneStore((home) => {
  describe("a job with an HTTP step", () => {
    const service = useService(home, { STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES: "127.0.0.1" });

    test("sends its request, and the answer is the step's output", async () => {
      await using server = await ScriptedServer.start((response) => {
        response.writeHead(201, { "content-type": "application/json", date: "today" }).end('{"id":7}');
      });
      const { api } = await service.newOrganization();
      const url = `${server.endpoint}orders`;
      const step = httpStep({
        method: "POST",
        url,
        headers: { "X-Shop": "one" },
        query: { dry: true },
        body: { sku: "a" },
      });
      const { workflowId } = await deploy(api, definitionOf(step));
      const job = await submitAndWait(api, workflowId);
      expect(job).toMatchObject({
        status: "SUCCEEDED",
        output: { status: 201, headers: { "content-type": "application/json" }, body: { id: 7 } },
      });
      expect(server.requests).toMatchObject([
        {
          method: "POST",
          path: "/orders?dry=true",
          headers: { "x-shop": "one", "idempotency-key": `${job.jobId}:call:1` },
          body: '{"sku":"a"}',
        },
      ]);
    });

    test("retries under the same key when the server asks for it, even if the step has no retry policy", async () => {
      await using server = await ScriptedServer.start((response) => {
        if (server.requests.length > 1) response.end("ok");
        else response.writeHead(503, { "retry-after": "2" }).end();
      });
      const { api } = await service.newOrganization();
      const { workflowId } = await deploy(api, definitionOf(httpStep({ method: "POST", url: server.endpoint.href })));
      const job = await submitAndWait(api, workflowId);
      expect(job).toMatchObject({ status: "SUCCEEDED", output: { body: "ok" } });
      expect(server.requests.map(({ headers }) => headers["idempotency-key"])).toEqual([
        `${job.jobId}:call:1`,
        `${job.jobId}:call:1`,
      ]);
      const { body } = await api.call<JobHistory>("GetJobHistory", { params: { jobId: job.jobId } });
      const failed = body.entries.find(({ type }) => type === "step.attemptFailed");
      const again = body.entries.find(({ type, attempt }) => type === "step.attemptStarted" && attempt === 2);
      // The service honours the time that the server asked for. Without this wish, the service would try again after at most a second.
      expect(Date.parse(again?.at ?? "") - Date.parse(failed?.at ?? "")).toBeGreaterThanOrEqual(2_000);
    });

    test("fails at a status that another attempt would not change, whatever its policy says", async () => {
      await using server = await ScriptedServer.start((response) => response.writeHead(404).end());
      const { api } = await service.newOrganization();
      const retry = { maxAttempts: 5, initialIntervalSeconds: 0.01 };
      const { workflowId } = await deploy(api, definitionOf(httpStep({ url: server.endpoint.href }, { retry })));
      const job = await submitAndWait(api, workflowId);
      expect(job).toMatchObject({
        status: "FAILED",
        error: { code: "ExecutorError", type: "HttpStatus404", step: "call", attempt: 1 },
      });
      expect(server.requests).toHaveLength(1);
    });
  });

  test("a service that stops closes the connections of its steps", async () => {
    const answer = "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=600\r\nContent-Length: 0\r\n\r\n";
    await using server = await RawServer.saying(answer);
    const service = new TestService(home, { STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES: "127.0.0.1" });
    await service.start();
    try {
      const { api } = await service.newOrganization();
      const { workflowId } = await deploy(api, definitionOf(httpStep({ url: server.url })));
      expect(await submitAndWait(api, workflowId)).toMatchObject({ status: "SUCCEEDED" });
      expect(server.connections.map(({ socket }) => socket.closed)).toEqual([false]);
    } finally {
      await service.stop();
    }
    await expect.poll(() => server.connections.map(({ socket }) => socket.closed)).toEqual([true]);
  });

  describe("a service with default settings", () => {
    const service = useService(home);

    test("rejects a definition that calls an internal address, and names the setting that allows it", async () => {
      await using server = await ScriptedServer.start((response) => response.end("inside"));
      const { api } = await service.newOrganization();
      const workflow = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "inside" } });
      const { body } = await api.call<{ errors: { pointer: string; detail: string }[] }>("ValidateWorkflowVersion", {
        params: workflow.body,
        body: { definition: definitionOf(httpStep({ url: server.endpoint.href })) },
      });
      expect(body.errors).toMatchObject([
        {
          pointer: "/steps/0/integrationDetails/config/url",
          detail: expect.stringContaining("STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES"),
        },
      ]);
      expect(server.requests).toEqual([]);
    });
  });
});
