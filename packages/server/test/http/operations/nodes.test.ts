import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, registerVersion, submitAndWait } from "@stepwell/testing/flow.ts";
import { TestService } from "@stepwell/testing/service.ts";
import { secondWithSlackMs } from "@stepwell/testing/soon.ts";
import { type PreparedStore, postgresHome } from "@stepwell/testing/stores.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

describe("on two nodes over one PostgreSQL", () => {
  let shared: PreparedStore;
  let first: TestService;
  let second: TestService;

  beforeAll(async () => {
    shared = await postgresHome.prepare();
    const home = { name: "postgres", prepare: async () => ({ ...shared, remove: async () => {} }) } as const;
    first = new TestService(home);
    second = new TestService(home);
    await Promise.all([first.start(), second.start()]);
  });

  afterAll(async () => {
    await Promise.all([first?.stop(), second?.stop()]);
    await shared?.remove();
  });

  test("a revoked token is rejected on the other node within a second", async () => {
    const { api, organizationId } = await first.newOrganization();
    const { body } = await api.call<{ token: string; tokenId: string }>("CreateApiToken", {
      body: { name: "t", permissions: ["job:list"] },
    });
    const there = second.client(body.token, { organizationId });
    await there.call("ListJobs");
    await api.call("RevokeApiToken", { params: { tokenId: body.tokenId } });
    const statusThere = async () => (await there.callAny("ListJobs", {})).status;
    await expect.poll(statusThere, { timeout: secondWithSlackMs, interval: 20 }).toBe(401);
    for (let again = 0; again < 20; again += 1) expect(await statusThere()).toBe(401);
  });

  test("one node can read at once what another node acknowledged", async () => {
    const { api, organizationId, owner } = await first.newOrganization();
    const there = second.client(owner.token, { organizationId });
    const { workflowId } = await deploy(api, straightDefinition);
    for (let count = 2; count < 8; count += 1) {
      const { versionId } = await registerVersion(api, workflowId, straightDefinition);
      await api.call("SetWorkflowVersionTag", { params: { workflowId, tag: "$LIVE" }, body: { versionId } });
      const { body } = await there.call<JobBody>("SubmitJob", { query: { waitSeconds: 20 }, body: { workflowId } });
      expect(body.workflowVersion.versionNumber).toBe(count);
      expect((await api.call<JobBody>("GetJob", { params: { jobId: body.jobId } })).body.status).toBe("SUCCEEDED");
    }
  });

  test("an event sent to one node wakes a request that waits on the other", async () => {
    const { api, organizationId, owner } = await first.newOrganization();
    const there = second.client(owner.token, { organizationId });
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    const held = api.call<JobBody>("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
    const startedAt = performance.now();
    await there.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } });
    expect((await held).body.status).toBe("SUCCEEDED");
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(5_000));
  });

  test("the same key on both nodes at the same time creates one job", async () => {
    const { api, organizationId, owner } = await first.newOrganization();
    const there = second.client(owner.token, { organizationId });
    const { workflowId } = await deploy(api, straightDefinition);
    for (let round = 0; round < 10; round += 1) {
      const options = { body: { workflowId }, headers: { "idempotency-key": `round-${round}` } };
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? api : there).call("SubmitJob", options)),
      );
      expect(new Set(answers.map(({ body }) => body.jobId)).size).toBe(1);
    }
    const { body } = await api.call("ListJobs", { query: { includeTotal: true } });
    expect(body.totalCount).toBe(10);
  });
});
