import type { ProblemBody } from "@stepwell/testing/client.ts";
import { costlyDefinitions } from "@stepwell/testing/costly/definitions.ts";
import { definitionOf, noopStep, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, registerVersion, submitAndWait } from "@stepwell/testing/flow.ts";
import { TestService, useService } from "@stepwell/testing/service.ts";
import { onOneStore, type StoreHome } from "@stepwell/testing/stores.ts";
import { expectCpuBelowUntilDone } from "@stepwell/testing/time/cpu-bound.ts";
import { cpuMsOf } from "@stepwell/testing/time/cpu-time.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { executorCatalog } from "../../../src/engine/executors/catalog.ts";
import { definitionCheck } from "../../../src/engine/plans/definition-check.ts";
import { Plans } from "../../../src/engine/plans/plans.ts";

onOneStore((home) => {
  test("jobs start and run to their end even if lowered limits would now reject their version", async () => {
    const { environment, remove } = await home.prepare();
    onTestFinished(remove);
    const sameStore: StoreHome = { ...home, prepare: async () => ({ environment, remove: async () => {} }) };
    const before = new TestService(sameStore);
    await before.start();
    const { organizationId, owner, api: apiBefore } = await before.newOrganization();
    const longName = "a step with a name of more than sixteen characters";
    const definition = definitionOf(
      noopStep("first", longName),
      waitStep(longName, ["yes", "no"], "last"),
      noopStep("last", null),
    );
    const { workflowId } = await deploy(apiBefore, definition);
    const begun = await submitAndWait(apiBefore, workflowId);
    await before.stop();

    const after = new TestService(sameStore, {
      STEPWELL_MAX_STEPS: "2",
      STEPWELL_MAX_EVENT_IDS_PER_STEP: "1",
      STEPWELL_MAX_NAME_LENGTH: "16",
      STEPWELL_MAX_DEFINITION_BYTES: "1024",
      STEPWELL_MAX_JSON_DEPTH: "8",
    });
    await after.start();
    onTestFinished(() => after.stop());
    const api = after.client(owner.token, { organizationId });
    await api.call("RegisterWorkflowVersion", { params: { workflowId }, body: { definition }, status: 400 });
    const submitted = await submitAndWait(api, workflowId);
    for (const { jobId } of [begun, submitted]) {
      for (const eventId of ["yes", "no"]) await api.call("SendJobEvent", { params: { jobId }, body: { eventId } });
      const { body } = await api.call<{ status: string }>("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
      expect(body.status).toBe("SUCCEEDED");
    }
  });
});

onOneStore((home) => {
  const service = useService(home);

  inWholeMatrix(() => {
    test("other requests are served while a slow check of a definition runs", async () => {
      const { api } = await service.newOrganization();
      const workflow = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "costly" } });
      const params = { workflowId: workflow.body.workflowId };
      const definition = JSON.stringify(costlyDefinitions().get("five hundred steps with nine thousand properties"));
      const validate = () => api.call("ValidateWorkflowVersion", { params, body: { definition } });
      expect((await validate()).body).toMatchObject({ valid: true });
      const check = definitionCheck(readConfig({}));
      const checkMs = cpuMsOf(() => check({ text: definition }));
      // The check computes in a thread of its own. The main thread only sends, reads and answers.
      await expectCpuBelowUntilDone(0.75 * checkMs, validate);
    });

    test("other due work runs while many large versions are loaded", async () => {
      const { organizationId, api } = await service.newOrganization();
      const definition = JSON.stringify(costlyDefinitions().get("twenty thousand schemas"));
      const { workflowId } = await deploy(api, definition);
      const versions = [];
      for (let number = 0; number < 5; number++) versions.push(await registerVersion(api, workflowId, definition));
      const config = readConfig({});
      const plans = new Plans(executorCatalog(config), config);
      let turns = 0;
      const watch = setInterval(() => (turns += 1), 0);
      const keys = versions.map(({ versionId }) => ({ organizationId, versionId }));
      expect((await plans.load(service.running.database, keys)).plans.size).toBe(5);
      clearInterval(watch);
      // Without pauses, all five would be compiled in one turn of the event loop.
      expect(turns).toBeGreaterThanOrEqual(4);
    });
  });

  test.each<[string, string, object]>([
    ["half a million members of the wrong type", "CreateRole", { name: "x", permissions: new Array(490_000).fill(1) }],
    ["ninety thousand unknown keys", "RegisterWorkflow", keys(90_000)],
  ])("a body with %s is rejected quickly, with its first problem", async (_, operationId, body) => {
    const { api } = await service.newOrganization();
    // The limit includes the work of the test itself, which makes and sends the body.
    await expectCpuBelowUntilDone(timeLimit(300), async () => {
      const answered = await api.call<ProblemBody>(operationId, { body, status: 400 });
      expect(answered.body.errors).toHaveLength(1);
    });
  });
});

function keys(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
}
