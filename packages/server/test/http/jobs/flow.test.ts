import { waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, submitAndWait } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

onEveryStore((home) => {
  const service = useService(home);

  test("a workflow is registered and tagged, and its job is submitted, waits for its event, and succeeds", async () => {
    const { api } = await service.newOrganization();
    const { workflowId, versionId } = await deploy(api, waitingDefinition);

    const waiting = await submitAndWait(api, workflowId, { order: 7 });
    expect(waiting).toMatchObject({
      status: "RUNNING",
      output: null,
      workflowVersion: { versionId, versionNumber: 1, tag: "$LIVE" },
      currentStep: {
        name: "approve",
        type: "/service/waitForEventIds",
        status: "successful_but_incomplete",
        awaiting: { eventIds: ["approved"], receivedEventIds: [], missingEventIds: ["approved"] },
      },
      steps: [{ name: "prepare", status: "success" }, { name: "approve" }],
    });

    const params = { jobId: waiting.jobId };
    const sent = await api.call("SendJobEvent", { params, body: { eventId: "approved", payload: { by: "me" } } });
    expect(sent.body).toEqual({
      jobId: waiting.jobId,
      eventId: "approved",
      outcome: "matched",
      warnings: [{ pointer: "/payload/by", detail: expect.stringContaining("reaches no step") }],
    });

    const finished = await api.call<JobBody>("GetJob", { params, query: { waitSeconds: 20 } });
    expect(finished.body).toMatchObject({ status: "SUCCEEDED", output: { order: 7 } });
    expect(finished.body.steps.map((step) => step.status)).toEqual(["success", "success", "success"]);
    expect(finished.body.currentStep).toBeUndefined();
  });
});
