import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, noopStep, straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

interface Metric {
  readonly from: string;
  readonly to: string;
  readonly points: readonly { readonly at: string; readonly value: number | null }[];
}

onOneStore((home) => {
  const service = useService(home);

  async function metric(api: Client, query: Record<string, string>): Promise<Metric> {
    return (await api.call<Metric>("GetMetrics", { query })).body;
  }

  const total = ({ points }: Metric) => points.reduce((sum, { value }) => sum + (value ?? 0), 0);

  /** The output definition of the second step requires a value that the input may lack. */
  const failing = JSON.stringify({
    workflowName: "failing",
    steps: [
      noopStep("a", "b"),
      {
        name: "b",
        integrationDetails: {
          type: "/service/noop",
          inputDefinition: { $ref: "#/definitions/any" },
          outputDefinition: { $ref: "#/definitions/strict" },
        },
        transitionToStep: null,
      },
    ],
    definitions: {
      any: { type: "object", properties: { sku: { type: "string" } } },
      strict: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] },
    },
  });

  test("metrics count and measure exactly the jobs' runs, separately for each organization and workflow", async () => {
    const { api } = await service.newOrganization();
    const other = await service.newOrganization();
    const straight = await deploy(api, straightDefinition);
    const waiting = await deploy(api, waitingDefinition);
    const broken = await deploy(api, failing);
    for (let count = 0; count < 3; count += 1) await submitAndWait(api, straight.workflowId);
    await submitAndWait(api, waiting.workflowId);
    const cancelled = await submitAndWait(api, waiting.workflowId);
    await api.call("CancelJob", { params: { jobId: cancelled.jobId } });
    expect((await submitAndWait(api, broken.workflowId)).status).toBe("FAILED");

    for (const bucket of ["hour", "day"]) {
      const count = async (name: string, more = {}) => total(await metric(api, { metric: name, bucket, ...more }));
      expect(await count("jobs_submitted")).toBe(6);
      expect(await count("jobs_submitted", { workflowId: waiting.workflowId })).toBe(2);
      expect(await count("jobs_succeeded")).toBe(3);
      expect(await count("jobs_cancelled")).toBe(1);
      expect(await count("jobs_failed")).toBe(1);
      expect(await count("step_failures")).toBe(1);
      expect(await count("step_failures", { workflowId: straight.workflowId })).toBe(0);
      expect(await count("step_retries")).toBe(0);
    }
    for (const aggregation of ["avg", "p50", "p95", "p99", "max"]) {
      for (const name of ["job_duration_seconds", "step_duration_seconds"]) {
        const { points } = await metric(api, { metric: name, aggregation });
        const measured = points.filter(({ value }) => value !== null);
        expect(measured.length, `${name} ${aggregation}`).toBeGreaterThan(0);
        for (const { value } of measured) expect(value).toBeLessThan(60);
      }
    }
    expect(total(await metric(api, { metric: "jobs_running" }))).toBe(1);
    expect(total(await metric(api, { metric: "jobs_waiting", workflowId: waiting.workflowId }))).toBe(1);
    expect(total(await metric(api, { metric: "jobs_waiting", workflowId: straight.workflowId }))).toBe(0);
    expect(total(await metric(other.api, { metric: "jobs_submitted" }))).toBe(0);
  });

  test("every bucket of the range exists, aligned in UTC", async () => {
    const { api } = await service.newOrganization();
    const range = { from: "2026-01-01T10:30:00Z", to: "2026-01-01T13:00:00.001Z" };
    const counted = await metric(api, { metric: "jobs_submitted", ...range });
    expect(counted.points).toEqual([10, 11, 12, 13].map((hour) => ({ at: `2026-01-01T${hour}:00:00.000Z`, value: 0 })));
    expect([counted.from, counted.to]).toEqual(["2026-01-01T10:00:00.000Z", "2026-01-01T14:00:00.000Z"]);
    const measured = await metric(api, { metric: "job_duration_seconds", bucket: "day", ...range });
    expect(measured.points).toEqual([{ at: "2026-01-01T00:00:00.000Z", value: null }]);
    expect((await metric(api, { metric: "jobs_failed" })).points).toHaveLength(24);
    expect((await metric(api, { metric: "jobs_failed", bucket: "day" })).points).toHaveLength(30);
  });

  test.each([
    ["no metric", {}],
    ["an unknown metric", { metric: "jobs" }],
    ["an average of a count", { metric: "jobs_failed", aggregation: "avg" }],
    ["a sum of durations", { metric: "job_duration_seconds", aggregation: "sum" }],
    ["a range for a present value", { metric: "jobs_running", from: "2026-01-01T00:00:00Z" }],
    [
      "a range that ends before it begins",
      { metric: "jobs_failed", from: "2026-01-02T00:00:00Z", to: "2026-01-01T00:00:00Z" },
    ],
    ["too many hours", { metric: "jobs_failed", from: "2026-01-01T00:00:00Z", to: "2026-02-02T00:00:00Z" }],
    [
      "too many days",
      { metric: "jobs_failed", bucket: "day", from: "2024-01-01T00:00:00Z", to: "2026-01-01T00:00:00Z" },
    ],
    ["the last hour before the year 10000", { metric: "jobs_failed", to: "9999-12-31T23:59:59Z" }],
    ["an invalid time", { metric: "jobs_failed", from: "yesterday" }],
  ])("%s is 400", async (_name, query) => {
    const { api } = await service.newOrganization();
    await api.refused("GetMetrics", "ValidationError", { query });
  });

  test("a workflow with one step has durations of one step", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, definitionOf(noopStep("only", null)));
    await submitAndWait(api, workflowId);
    const { points } = await metric(api, { metric: "step_duration_seconds", aggregation: "max", workflowId });
    expect(points.filter(({ value }) => value !== null)).toHaveLength(1);
  });
});
