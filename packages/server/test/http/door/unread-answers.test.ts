import { once } from "node:events";
import type { Socket } from "node:net";
import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, noopStep } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { open, requestText } from "@stepwell/testing/raw.ts";
import { TestService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, test, vi } from "vitest";

const names = ["a", "b", "c", "d", "e", "f", "g", "h"];

// The test is about the memory of a node, so one home of the store is enough.
onOneStore((home) => {
  async function started(settings: Record<string, string>): Promise<TestService & AsyncDisposable> {
    const service = new TestService(home, { STEPWELL_MAX_UNREAD_ANSWERS_MB: "60", ...settings });
    await service.start();
    return Object.assign(service, { [Symbol.asyncDispose]: () => service.stop() });
  }

  /** Makes a job of this many steps, each of which adds some 2 MB to the answer of GetJob. Eight steps are more than a connection's buffers hold. */
  async function withLargeJob(service: TestService, stepCount = names.length) {
    const steps = names.slice(0, stepCount).map((name, index, all) => noopStep(name, all[index + 1] ?? null));
    const { api, organizationId, owner } = await service.newOrganization();
    const { workflowId } = await deploy(api, definitionOf(...steps));
    const inputJson = { text: "x".repeat(900_000) };
    const { jobId } = await submitAndWait(api, workflowId, inputJson);
    const path = `/organizations/${organizationId}/jobs/${jobId}`;
    /** Asks for the job or its stream, waits until the answer begins, and reads nothing of it. */
    const askWithoutReading = async (part = ""): Promise<Socket> => {
      const socket = await open(service.port);
      socket.on("error", () => {});
      socket.write(requestText(`GET ${path}${part}`, [`Authorization: Bearer ${owner.token}`]));
      await once(socket, "readable");
      return socket;
    };
    const again = { body: { workflowId, workflowVersion: { versionNumber: 1 }, inputJson } };
    const streamCount = () => service.running.engine.waitingCountOf(organizationId);
    return { api, params: { jobId }, again, askWithoutReading, streamCount };
  }

  const succeeds = (api: Client, params: { jobId: string }) =>
    vi.waitFor(async () => void (await api.call("GetJob", { params })), { timeout: 20_000, interval: 100 });

  test("large unread answers of one organization take at most half of the room for such answers, and free it at their end", async () => {
    await using service = await started({});
    const { api, params, again, askWithoutReading } = await withLargeJob(service);
    const other = await withLargeJob(service, 1);
    const socket = await askWithoutReading();
    await api.refused("GetJob", "UnavailableError", { params });
    await api.refused("GetJobState", "UnavailableError", { params });
    await api.call("GetJobStateMetadata", { params });
    const { body: refused } = await api.refused("SubmitJob", "UnavailableError", {
      query: { waitSeconds: 20 },
      ...again,
    });
    expect(refused.detail).toMatch("The request was carried out");
    await other.api.call("GetJob", { params: other.params });
    socket.destroy();
    await succeeds(api, params);
  });

  test("streams that nobody reads take room for unread answers, and the one for which there is no room is closed", async () => {
    await using service = await started({ STEPWELL_MAX_UNREAD_ANSWERS_MB: "40" });
    const { askWithoutReading, streamCount } = await withLargeJob(service);
    for (let count = 1; count <= 12; count += 1) await askWithoutReading("/stream");
    await expect.poll(streamCount).toBe(10);
  });

  inWholeMatrix(() => {
    test("a client that does not read its stream is disconnected", async () => {
      await using service = await started({ STEPWELL_REQUEST_TIMEOUT_MS: "500", STEPWELL_HEADERS_TIMEOUT_MS: "500" });
      const { askWithoutReading, streamCount } = await withLargeJob(service);
      await askWithoutReading("/stream");
      await expect.poll(streamCount).toBe(0);
    });
  });

  inWholeMatrix(() => {
    test("a service that stops does not wait for a client that does not read its stream", async () => {
      const service = await started({ STEPWELL_REQUEST_TIMEOUT_MS: "600000" });
      const { askWithoutReading } = await withLargeJob(service);
      await askWithoutReading("/stream");
      await service.stop();
    });
  });

  inWholeMatrix(() => {
    test("a client that does not read a large answer is disconnected", async () => {
      await using service = await started({ STEPWELL_REQUEST_TIMEOUT_MS: "500", STEPWELL_HEADERS_TIMEOUT_MS: "500" });
      const { api, params, askWithoutReading } = await withLargeJob(service);
      const socket = await askWithoutReading();
      await succeeds(api, params);
      let received = 0;
      socket.on("data", (chunk: Buffer) => {
        received += chunk.length;
      });
      await once(socket, "close");
      expect(received).toBeLessThan(14_000_000);
    });
  });
});
