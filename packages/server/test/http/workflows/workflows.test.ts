import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, submitAndWait } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

onOneStore((home) => {
  const service = useService(home);

  test("a registered workflow can be found again, with its tags", async () => {
    const { api, organizationId } = await service.newOrganization();
    const created = await api.call<{ workflowId: string; createdAt: string }>("RegisterWorkflow", {
      body: { name: "w" },
    });
    const { workflowId, createdAt } = created.body;
    expect(created.status).toBe(201);
    expect(created.headers.get("location")).toBe(`/organizations/${organizationId}/workflows/${workflowId}`);
    const found = await api.call("GetWorkflow", { params: { workflowId } });
    expect(found.body).toEqual({ workflowId, name: "w", createdAt, tags: [] });
  });

  test("a taken name is a conflict, and names are compared byte by byte", async () => {
    const { api } = await service.newOrganization();
    for (const name of ["Café", "café", "cafe\u0301"]) await api.call("RegisterWorkflow", { body: { name } });
    await api.refused("RegisterWorkflow", "ConflictError", { body: { name: "café" } });
    const { body } = await api.call<{ workflows: { name: string }[] }>("ListWorkflows", { query: { name: "café" } });
    expect(body.workflows.map(({ name }) => name)).toEqual(["café"]);
  });

  test("a name that is too long gets the error about its length, and no error about its characters", async () => {
    const { api } = await service.newOrganization();
    const { body } = await api.refused("RegisterWorkflow", "ValidationError", { body: { name: "x".repeat(257) } });
    expect(body).toMatchObject({ errors: [{ pointer: "/name", detail: "must have at most 256 characters" }] });
  });

  test("ten simultaneous registrations of one name create one workflow", async () => {
    const { api } = await service.newOrganization();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        api.call("RegisterWorkflow", { body: { name: "w" } }).then(
          () => 201,
          () => 409,
        ),
      ),
    );
    expect(answers.filter((status) => status === 201)).toHaveLength(1);
  });

  test.each([
    ["a page size of 0", { pageSize: 0 }],
    ["a page size of -1", { pageSize: -1 }],
    ["a page size of 1,000,000,000", { pageSize: 1_000_000_000 }],
    ["a made-up page token", { pageToken: "abc" }],
    ["an empty page token", { pageToken: "" }],
    ["an unknown order", { sort: "name;drop table" }],
  ])("%s is 400", async (_name, query) => {
    const { api } = await service.newOrganization();
    await api.refused("ListWorkflows", "ValidationError", { query });
  });

  test("a deleted workflow accepts no jobs, its name is free, and its jobs continue", async () => {
    const { api } = await service.newOrganization();
    const { workflowId, versionId } = await deploy(api, waitingDefinition);
    const { body: workflow } = await api.call<{ name: string }>("GetWorkflow", { params: { workflowId } });
    const { jobId } = await submitAndWait(api, workflowId);

    expect((await api.call("DeleteWorkflow", { params: { workflowId } })).status).toBe(204);
    await api.refused("GetWorkflow", "NotFoundError", { params: { workflowId } });
    await api.refused("GetWorkflowVersion", "NotFoundError", { params: { workflowId, versionId } });
    await api.refused("SubmitJob", "NotFoundError", { body: { workflowId } });
    expect((await api.call("ListWorkflows")).body).toEqual({ workflows: [] });
    await api.call("RegisterWorkflow", { body: { name: workflow.name } });

    await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } });
    const finished = await api.call<JobBody>("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
    expect(finished.body).toMatchObject({ status: "SUCCEEDED", workflowName: workflow.name });
  });

  test("a tag points at a version, moves, and keeps its history", async () => {
    const { api, owner } = await service.newOrganization();
    const first = await deploy(api, straightDefinition);
    const { workflowId } = first;
    const { body: second } = await api.call<{ versionId: string }>("RegisterWorkflowVersion", {
      params: { workflowId },
      body: { definition: waitingDefinition },
    });
    const params = { workflowId, tag: "$LIVE" };
    const moved = await api.call("SetWorkflowVersionTag", { params, body: { versionId: second.versionId } });
    expect(moved.body).toEqual({ tag: "$LIVE", versionId: second.versionId, versionNumber: 2, success: true });

    const tagged = await api.call("GetTaggedWorkflowVersion", { params });
    expect(tagged.body).toMatchObject({ versionId: second.versionId, definition: waitingDefinition, tags: ["$LIVE"] });
    expect((await api.call("DeleteTag", { params })).status).toBe(204);
    await api.refused("GetTaggedWorkflowVersion", "NotFoundError", { params });
    await api.refused("DeleteTag", "NotFoundError", { params });

    const changedBy = { type: "user", id: owner.userId };
    const history = await api.call<{ changes: object[] }>("ListTagHistory", { params });
    expect(history.body.changes).toMatchObject([
      { change: "deleted", changedBy },
      { change: "set", versionNumber: 2, changedBy },
      { change: "set", versionNumber: 1, changedBy },
    ]);
  });

  test("a tag takes only a version of its own workflow", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    const elsewhere = await deploy(api, straightDefinition);
    const foreign = await deploy((await service.newOrganization()).api, straightDefinition);
    const params = { workflowId, tag: "stable" };
    for (const versionId of [elsewhere.versionId, foreign.versionId, "00000000-0000-7000-8000-000000000000"]) {
      await api.refused("SetWorkflowVersionTag", "NotFoundError", { params, body: { versionId } });
    }
    await api.refused("SetWorkflowVersionTag", "ValidationError", { params, body: { versionId: "no-id" } });
    expect((await api.call<{ tags: unknown[] }>("ListTags", { params })).body.tags).toHaveLength(1);
  });

  test("$LIVE and %24LIVE are the same tag, and a path is decoded once", async () => {
    const { api, organizationId, owner } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    const at = `${service.baseUrl}/organizations/${organizationId}/workflows/${workflowId}/tags`;
    const statusAt = async (tag: string) => {
      const response = await fetch(`${at}/${tag}`, { headers: { authorization: `Bearer ${owner.token}` } });
      await response.arrayBuffer();
      return response.status;
    };
    expect(await statusAt("$LIVE")).toBe(200);
    expect(await statusAt("%24LIVE")).toBe(200);
    expect(await statusAt("%2524LIVE")).toBe(400);
  });

  test.each(["a/b", "..x y", "x".repeat(300), "🙂", "a\0b", "$$x", "é", " "])("the tag %j is 400", async (tag) => {
    const { api } = await service.newOrganization();
    const { workflowId, versionId } = await deploy(api, straightDefinition);
    const params = { workflowId, tag };
    await api.refused("SetWorkflowVersionTag", "ValidationError", { params, body: { versionId } });
    await api.refused("GetTaggedWorkflowVersion", "ValidationError", { params });
    await api.refused("DeleteTag", "ValidationError", { params });
  });

  test("simultaneous moves of a tag have one order and cause no error", async () => {
    const { api } = await service.newOrganization();
    const { workflowId, versionId } = await deploy(api, straightDefinition);
    const params = { workflowId, tag: "stable" };
    await Promise.all(
      Array.from({ length: 20 }, () => api.call("SetWorkflowVersionTag", { params, body: { versionId } })),
    );
    const { body } = await api.call<{ changes: unknown[] }>("ListTagHistory", { params });
    expect(body.changes).toHaveLength(20);
  });
});
