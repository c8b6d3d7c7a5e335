import { definitionOf, straightDefinition, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { said } from "@stepwell/testing/notes.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, test } from "vitest";

interface LimitsBody {
  readonly limits: readonly {
    readonly name: string;
    readonly maximum: number;
    readonly usedCount: number;
    readonly scope: string;
    readonly isOwn: boolean;
  }[];
}

const polling = { timeout: 20_000, interval: 250 };

onOneStore((home) => {
  const service = useService(home, { STEPWELL_MAX_STORED_MB: "1", STEPWELL_PLAN_CACHE_MB: "16" });

  test("an organization sees each of its limits, the used part of it, and whether the operator set it specially", async () => {
    const { api, organizationId, owner } = await service.newOrganization();
    await api.call("CreateInvitation", { body: { roles: ["viewer"] } });
    await api.call("CreateApiToken", { body: { name: "t", permissions: ["job:read"] } });
    await api.call("CreateOAuthClient", { body: { name: "c", redirectUris: ["https://app.example.org/"] } });
    const { workflowId, versionId } = await deploy(api, definitionOf(waitStep("w", ["x"], null)));
    const tag = { params: { workflowId, tag: "second" }, body: { versionId } };
    await api.call("SetWorkflowVersionTag", tag);
    await deploy(api, straightDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    await service.setMaximums(organizationId, { apiTokens: 7, waitingRequests: 9 });
    const url = `${service.baseUrl}/organizations/${organizationId}/jobs/${jobId}/stream`;
    const stream = await fetch(url, { headers: { authorization: `Bearer ${owner.token}` } });

    const limitsNow = async () => (await api.call<LimitsBody>("GetLimits")).body.limits;
    await expect
      .poll(async () => (await limitsNow()).find(({ name }) => name === "waitingRequests"), polling)
      .toEqual({
        name: "waitingRequests",
        maximum: 9,
        usedCount: 1,
        scope: "node",
        isOwn: true,
      });
    const one = (name: string, maximum: number, usedCount: number, scope = "organization", isOwn = false) => ({
      name,
      maximum,
      usedCount,
      scope,
      isOwn,
    });
    await expect
      .poll(limitsNow, polling)
      .toEqual([
        one("apiTokens", 7, 1, "organization", true),
        one("oauthClients", 50, 1),
        one("members", 5_000, 2),
        one("openInvitations", 1_000, 1),
        one("roles", 100, 0),
        one("workflows", 5_000, 2),
        one("versionsPerWorkflow", 10_000, 1, "workflow"),
        one("tagsPerWorkflow", 1_000, 2, "workflow"),
        one("waitingRequests", 9, 1, "node", true),
        one("storedMb", 1, 1),
        one("planMemoryMb", 8, 1, "node"),
      ]);
    await stream.body?.cancel();
  });

  inWholeMatrix(() => {
    test("an organization at its storage maximum starts nothing new, its jobs continue, and a raised maximum admits new ones", async () => {
      const [{ api, organizationId }, other] = [await service.newOrganization(), await service.newOrganization()];
      const { workflowId } = await deploy(api, definitionOf(waitStep("w", ["x"], null)));
      const { jobId } = await submitAndWait(api, workflowId);
      const large = { body: { workflowId, inputJson: { text: "x".repeat(400_000) } } };
      for (let count = 0; count < 3; count += 1) await api.call("SubmitJob", large);

      const submit = () => api.callAny<{ detail: string }>("SubmitJob", { body: { workflowId } });
      await expect.poll(async () => (await submit()).status, polling).toBe(409);
      expect((await submit()).body.detail).toMatch(
        /stores 1 MB or more.*--max storedMb=NUMBER.*STEPWELL_MAX_STORED_MB/,
      );
      const version = { params: { workflowId }, body: { definition: straightDefinition } };
      const refused = await api.refused("RegisterWorkflowVersion", "ConflictError", version);
      expect(refused.body.detail).toContain("STEPWELL_MAX_STORED_MB");
      await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "x" } });
      const { body } = await api.call<{ status: string }>("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
      expect(body.status).toBe("SUCCEEDED");
      const { workflowId: theirs } = await deploy(other.api, straightDefinition);
      await other.api.call("SubmitJob", { body: { workflowId: theirs } });

      await service.setMaximums(organizationId, { storedMb: 5 });
      await api.call("RegisterWorkflowVersion", version);
      await expect.poll(async () => (await submit()).status, polling).toBe(201);
    });
  });

  test("the reported stored bytes of an organization are close to the size of its rows", async () => {
    const { api, organizationId } = await service.newOrganization();
    await service.setMaximums(organizationId, { storedMb: 100 });
    const { workflowId } = await deploy(api, straightDefinition);
    const waiting = await deploy(api, definitionOf(waitStep("w", ["x"], null)));
    for (const size of [10, 1_500, 40_000]) {
      // Random text does not compress.
      const text = Array.from({ length: size / 2 }, () => Math.random().toString(36).slice(2, 4)).join("");
      for (let count = 0; count < 10; count += 1) await submitAndWait(api, workflowId, { text });
      const { jobId } = await submitAndWait(api, waiting.workflowId);
      await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "x", payload: { text } } });
    }
    const taken = said<{ bytes: number }>(
      ["job", "job_history", "job_value", "job_event"]
        .map(
          (table) => `SELECT sum(pg_column_size(${table}.*))::float AS bytes FROM ${table} WHERE organization_id = $1`,
        )
        .join(" UNION ALL "),
    );
    const rows = await service.running.database.query(taken, [organizationId]);
    const bytes = rows.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
    const counted = said<{ bytes: number }>(
      `SELECT coalesce(sum(count), 0)::float AS bytes FROM metric_rollup
       WHERE organization_id = $1 AND measure = 'storedBytes' AND bucket_seconds = 3600
         AND workflow_id = '00000000-0000-0000-0000-000000000000'`,
    );
    const left = said<{ left: number }>(
      "SELECT count(*)::integer AS left FROM metric_change WHERE organization_id = $1",
    );
    await expect
      .poll(async () => (await service.running.database.query(left, [organizationId]))[0]?.left, polling)
      .toBe(0);
    const [sum] = await service.running.database.query(counted, [organizationId]);
    expect((sum?.bytes ?? 0) / bytes).toBeGreaterThan(0.7);
    expect((sum?.bytes ?? 0) / bytes).toBeLessThan(1.5);
  });
});
