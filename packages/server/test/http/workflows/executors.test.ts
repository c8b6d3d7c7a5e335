import { catalog } from "@stepwell/testing/catalog.ts";
import { definitionOf } from "@stepwell/testing/definitions.ts";
import { configOf } from "@stepwell/testing/functions/calls.ts";
import { functionStep } from "@stepwell/testing/functions/function-server.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { describe, expect, test } from "vitest";

interface Executor {
  readonly type: string;
  readonly configSchema: { readonly properties?: Readonly<Record<string, object>> };
  readonly disallowedConfigFields: readonly string[];
}

onOneStore((home) => {
  describe("ListExecutors", () => {
    const service = useService(home, { STEPWELL_ALLOW_FUNCTION_ROLES: "true", STEPWELL_MAX_EVENT_IDS_PER_STEP: "7" });

    async function executors(): Promise<ReadonlyMap<string, Executor>> {
      const { body } = await service.client(undefined).call<{ executors: Executor[] }>("ListExecutors");
      return new Map(body.executors.map((executor) => [executor.type, executor]));
    }

    test("lists for every caller what steps can do on this service, with the texts of the dashboard and the docs", async () => {
      const offered = await executors();
      expect([...offered.keys()]).toEqual([...catalog.keys()]);
      expect(offered.get("/service/noop")).toEqual({
        type: "/service/noop",
        title: "No-op",
        summary: "The output is the input; nothing is called.",
        behaviour: "pass",
        configSchema: { type: "object", additionalProperties: false },
        expressionFields: [],
        needsInput: false,
        disallowedConfigFields: [],
      });
      expect(offered.get("/service/transform")).toMatchObject({ needsInput: true });
      expect(offered.get("/service/waitForEventIds")).toMatchObject({ expressionFields: ["eventIds"] });
    });

    test("gives the schema by which this service checks a config, including its own limits", async () => {
      const { configSchema } = (await executors()).get("/service/waitForEventIds") ?? {};
      expect(configSchema?.properties?.eventIds).toMatchObject({ type: "array", maxItems: 7 });
    });

    test("names the config fields that the operator forbids, and registration rejects exactly these", async () => {
      const { disallowedConfigFields } = (await executors()).get("/service/cloud/function") ?? {};
      expect(disallowedConfigFields).toEqual(["endpoint"]);
      const roleArn = "arn:aws:iam::123456789012:role/invoke";
      const { api } = await service.newOrganization();
      const { body: workflow } = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "w" } });
      const step = functionStep("reserve", "reserve", null) as { integrationDetails: object };
      const config = configOf("reserve", { roleArn, endpoint: "http://localhost:3002" });
      const details = { ...step.integrationDetails, config };
      const definition = definitionOf({ ...step, integrationDetails: details });
      const { body } = await api.call<{ errors: { pointer: string }[] }>("ValidateWorkflowVersion", {
        params: { workflowId: workflow.workflowId },
        body: { definition },
      });
      expect(body.errors.map(({ pointer }) => pointer)).toEqual(["/steps/0/integrationDetails/config/endpoint"]);
    });
  });
});
