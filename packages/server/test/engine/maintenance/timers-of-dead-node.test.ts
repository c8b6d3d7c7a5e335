import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, delayStep, noopStep, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody } from "@stepwell/testing/flow.ts";
import { TestService, testSecretKey } from "@stepwell/testing/service.ts";
import { onOneStore, type PreparedStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { firstOrganization, startNodeProcess } from "../node/child-node.ts";
import { byWayOf } from "../node/cluster.ts";

onOneStore((home) => {
  test("a delay, timeout or wait that ends while the job's node is dead takes effect on another node", async () => {
    const store: PreparedStore = await home.prepare();
    const dying = await startNodeProcess({ ...store.environment, STEPWELL_SECRET_KEY: testSecretKey });
    const organization = firstOrganization(dying);
    const before = byWayOf(dying, organization);
    const sleeping = await deploy(
      before,
      definitionOf(delayStep("pause", { seconds: 1 }, "end"), noopStep("end", null)),
    );
    const hasty = { ...JSON.parse(definitionOf(waitStep("gate", ["go"], null))), timeoutSeconds: 1 };
    const waiting = await deploy(before, JSON.stringify(hasty));
    const impatient = await deploy(before, definitionOf({ ...waitStep("gate", ["go"], null), timeoutSeconds: 1 }));
    const sleeper = await submit(before, sleeping.workflowId);
    const waiter = await submit(before, waiting.workflowId);
    const impatientWaiter = await submit(before, impatient.workflowId);
    await dying.kill();

    const another = new TestService({ name: home.name, prepare: async () => store });
    await another.start();
    const after = byWayOf(another, organization);
    expect(await finished(after, sleeper)).toMatchObject({ status: "SUCCEEDED" });
    expect(await finished(after, waiter)).toMatchObject({ status: "FAILED", error: { type: "JobTimeout" } });
    const { error } = await finished(after, impatientWaiter);
    expect(error).toMatchObject({ code: "Timeout", step: "gate" });
    expect(error).not.toMatchObject({ type: "JobTimeout" });
    await another.stop();
  }, 60_000);
});

async function submit(api: Client, workflowId: string): Promise<string> {
  const { body } = await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
  return body.jobId;
}

interface Ended extends JobBody {
  readonly error?: { readonly code: string; readonly type?: string; readonly step: string };
}

async function finished(api: Client, jobId: string): Promise<Ended> {
  const { body } = await api.call<Ended>("GetJob", { params: { jobId }, query: { waitSeconds: 30 } });
  return body;
}
