import { randomUUID } from "node:crypto";
import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

onEveryStore((home) => {
  const service = useService(home);
  const key = (name: string = randomUUID()) => ({ headers: { "idempotency-key": name } });

  test("each POST that creates answers a repetition with the first answer, and creates nothing again", async () => {
    const { api, owner } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    const calls = [
      ["CreateOrganization", { body: { name: "n", displayName: "n" } }],
      ["RegisterWorkflow", { body: { name: "n" } }],
      ["RegisterWorkflowVersion", { params: { workflowId }, body: { definition: waitingDefinition } }],
      ["SubmitJob", { body: { workflowId } }],
    ] as const;
    for (const [operation, options] of calls) {
      const once = { ...options, ...key() };
      const first = await api.call(operation, once);
      const again = await api.call(operation, once);
      expect(again.body, operation).toEqual(first.body);
      expect(again.status, operation).toBe(first.status);
      expect(again.headers.get("location"), operation).toBe(first.headers.get("location"));
      const marks = [first, again].map(({ headers }) => headers.get("idempotency-replayed"));
      expect(marks, operation).toEqual([null, "true"]);
    }
    expect(
      (await owner.client.call<{ organizations: unknown[] }>("ListOrganizations")).body.organizations,
    ).toHaveLength(2);
    expect((await api.call<{ workflows: unknown[] }>("ListWorkflows")).body.workflows).toHaveLength(2);
    expect((await api.call<{ jobs: unknown[] }>("ListJobs")).body.jobs).toHaveLength(1);
    const versions = await api.call<{ versions: unknown[] }>("ListWorkflowVersions", { params: { workflowId } });
    expect(versions.body.versions).toHaveLength(2);
  });

  test("the same key with another body, or for another operation, is a conflict", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    const used = key();
    await api.call("SubmitJob", { body: { workflowId }, ...used });
    await api.refused("SubmitJob", "ConflictError", { body: { workflowId, inputJson: { a: 1 } }, ...used });
    await api.refused("RegisterWorkflow", "ConflictError", { body: { name: "n" }, ...used });
    const other = key();
    await api.call("RegisterWorkflow", { body: { name: "n" }, ...other });
    await api.refused("RegisterWorkflow", "ConflictError", { body: { name: "m" }, ...other });
  });

  test("the same key in another organization is a different key, and so is another user's", async () => {
    const used = key();
    const bodies = await Promise.all(
      [1, 2].map(async () => {
        const { api, owner } = await service.newOrganization();
        const { body } = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "n" }, ...used });
        const created = await owner.client.call<{ organizationId: string }>("CreateOrganization", {
          body: { name: "n", displayName: "n" },
          ...used,
        });
        return `${body.workflowId} ${created.body.organizationId}`;
      }),
    );
    expect(bodies[0]).not.toBe(bodies[1]);
  });

  test("ten parallel requests under one key have one effect", async () => {
    const { api, owner } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    for (const [operation, options] of [
      ["SubmitJob", { body: { workflowId } }],
      ["RegisterWorkflow", { body: { name: "n" } }],
      ["CreateOrganization", { body: { name: "n", displayName: "n" } }],
    ] as const) {
      const once = { ...options, ...key() };
      const answers = await Promise.all(Array.from({ length: 10 }, () => api.call(operation, once)));
      expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size, operation).toBe(1);
    }
    expect((await api.call<{ jobs: unknown[] }>("ListJobs")).body.jobs).toHaveLength(1);
    expect(
      (await owner.client.call<{ organizations: unknown[] }>("ListOrganizations")).body.organizations,
    ).toHaveLength(2);
  });

  test("a rejected request leaves its key free", async () => {
    const { api } = await service.newOrganization();
    const used = key();
    await api.call("RegisterWorkflow", { body: { name: "taken" } });
    await api.refused("RegisterWorkflow", "ConflictError", { body: { name: "taken" }, ...used });
    await api.call("RegisterWorkflow", { body: { name: "free" }, ...used });
  });

  test("a repeated submission with waitSeconds shows the first job in its present state, however long it waits", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, waitingDefinition);
    const used = key();
    const first = await api.call<JobBody>("SubmitJob", { query: { waitSeconds: 20 }, body: { workflowId }, ...used });
    const params = { jobId: first.body.jobId };
    await api.call("SendJobEvent", { params, body: { eventId: "approved" } });
    await api.call("GetJob", { params, query: { waitSeconds: 20 } });
    const again = await api.call<JobBody>("SubmitJob", { query: { waitSeconds: 5 }, body: { workflowId }, ...used });
    expect(again.body).toMatchObject({ jobId: first.body.jobId, status: "SUCCEEDED" });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
  });

  test("a cancellation and a resume under a key have one effect each", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, waitingDefinition);
    const { body } = await api.call<JobBody>("SubmitJob", { query: { waitSeconds: 20 }, body: { workflowId } });
    const params = { jobId: body.jobId };
    const [cancel, resume] = [key(), key()];
    await api.call("CancelJob", { params, ...cancel });
    const resumed = await api.call("ResumeJob", { params, ...resume });
    expect((await api.call("ResumeJob", { params, ...resume })).body).toEqual(resumed.body);
    expect((await api.call("CancelJob", { params, ...cancel })).body).toMatchObject({ status: "CANCELLED" });
    // A resumed job is PENDING until a node begins to run it.
    const status = async () => (await api.call<JobBody>("GetJob", { params })).body.status;
    await expect.poll(status).toBe("RUNNING");
  });

  test.each(["", " ", "with space", "x".repeat(256), "schlüssel", "tab\tin"])("the key %j is 400", async (name) => {
    const { api, organizationId, owner } = await service.newOrganization();
    const response = await fetch(`${service.baseUrl}/organizations/${organizationId}/workflows`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${owner.token}`,
        "content-type": "application/json",
        "idempotency-key": Buffer.from(name, "utf8").toString("latin1"),
      },
      body: '{"name":"n"}',
    });
    expect(response.status).toBe(400);
    expect((await api.call("ListWorkflows")).body).toEqual({ workflows: [] });
  });

  test("a key of 255 characters is valid", async () => {
    const { api } = await service.newOrganization();
    await api.call("RegisterWorkflow", { body: { name: "n" }, ...key("~".repeat(255)) });
  });

  test("an operation that does not support a key rejects it instead of ignoring it", async () => {
    const { api } = await service.newOrganization();
    const { workflowId, versionId } = await deploy(api, straightDefinition);
    const token = { name: "t", permissions: ["job:read"] };
    await api.refused("CreateApiToken", "ValidationError", { body: token, ...key() });
    const check = { params: { workflowId }, body: { definition: straightDefinition } };
    await api.refused("ValidateWorkflowVersion", "ValidationError", { ...check, ...key() });
    const tag = { params: { workflowId, tag: "x" }, body: { versionId } };
    await api.refused("SetWorkflowVersionTag", "ValidationError", { ...tag, ...key() });
    await api.call("GetWorkflow", { params: { workflowId }, ...key() });
  });

  test("an expired key counts as a new one", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    const used = key();
    const first = await api.call("SubmitJob", { body: { workflowId }, ...used });
    await service.running.database.query(
      {
        name: "age_keys",
        scope: "organization",
        planned: "each-time",
        text: "UPDATE idempotency_key SET created_at = created_at - interval '25 hours' WHERE organization_id = $1",
      },
      [organizationId],
    );
    const later = await api.call("SubmitJob", { body: { workflowId, inputJson: { a: 1 } }, ...used });
    expect(later.body.jobId).not.toBe(first.body.jobId);
  });
});
