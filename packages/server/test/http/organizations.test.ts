import { expect, test } from "vitest";
import { waitingDefinition } from "../support/definitions.ts";
import { deploy, submitAndWait } from "../support/flow.ts";
import { useService } from "../support/service.ts";
import { onEveryStore } from "../support/stores.ts";

/** Reliability and security, group B, and the life of an organization. */
onEveryStore((home) => {
  const service = useService(home);

  test("an organization is created, found, listed, renamed, and its creator is its owner", async () => {
    const user = await service.newUser();
    const names = { name: "acme", displayName: "Acme Ltd." };
    const created = await user.client.call<{ organizationId: string }>("CreateOrganization", { body: names });
    const { organizationId } = created.body;
    expect(created.status).toBe(201);
    expect(created.headers.get("location")).toBe(`/organizations/${organizationId}`);

    const api = user.client.bind({ organizationId });
    expect((await api.call("GetOrganization")).body).toEqual(created.body);
    expect((await api.call("ListOrganizations")).body).toEqual({ organizations: [created.body] });
    const renamed = await api.call("UpdateOrganization", { body: { displayName: "Acme" } });
    expect(renamed.body).toMatchObject({ name: "acme", displayName: "Acme" });
    expect((await api.call("GetOrganization")).body).toEqual(renamed.body);
  });

  test.each([
    ["B27 no name", { displayName: "x" }, "/name"],
    ["B28 an empty name", { name: "", displayName: "x" }, "/name"],
    ["B28 a blank name", { name: " \u00a0 ", displayName: "x" }, "/name"],
    ["B29 a name of 10,000 characters", { name: "x".repeat(10_000), displayName: "x" }, "/name"],
    ["B30 a control character", { name: "a\nb", displayName: "x" }, "/name"],
    ["B30 a change of direction", { name: "x", displayName: "a\u202eb" }, "/displayName"],
    ["B30 a zero-width character", { name: "x", displayName: "a\u200bb" }, "/displayName"],
    ["B31 a number", { name: 1, displayName: "x" }, "/name"],
    ["B31 an array", { name: ["x"], displayName: "x" }, "/name"],
    ["B31 an object", { name: {}, displayName: "x" }, "/name"],
    [
      "B22 a field that is not the caller's to set",
      { name: "x", displayName: "x", organizationId: "x" },
      "/organizationId",
    ],
  ])("%s is 400 with a pointer", async (_name, body, pointer) => {
    const user = await service.newUser();
    const { body: problem } = await user.client.refused("CreateOrganization", "ValidationError", { body });
    expect(problem.errors?.map((error) => error.pointer)).toEqual([pointer]);
    expect((await user.client.call("ListOrganizations")).body).toEqual({ organizations: [] });
  });

  test("B32 the same name, also in another case or form, is another organization", async () => {
    const user = await service.newUser();
    const ids = new Set<string>();
    for (const name of ["café", "café", "CAFÉ", "cafe\u0301"]) {
      const { body } = await user.client.call<{ organizationId: string; name: string }>("CreateOrganization", {
        body: { name, displayName: name },
      });
      expect(body.name).toBe(name);
      ids.add(body.organizationId);
    }
    expect(ids.size).toBe(4);
  });

  test("B33 a name that looks like code is text", async () => {
    const user = await service.newUser();
    for (const name of ["<script>alert(1)</script>", "{{7*7}}", "=cmd()", "'; DROP TABLE job; --", "$(input)"]) {
      const { body } = await user.client.call("CreateOrganization", { body: { name, displayName: name } });
      expect(body).toMatchObject({ name, displayName: name });
    }
  });

  test("an update that changes nothing is 400", async () => {
    const { api } = await service.newOrganization();
    await api.refused("UpdateOrganization", "ValidationError", { body: {} });
  });

  test("a deleted organization is gone for everybody, and its tokens are not valid any more", async () => {
    const { api, organizationId, owner } = await service.newOrganization();
    const { body: token } = await api.call<{ token: string }>("CreateApiToken", {
      body: { name: "t", permissions: ["organization:read"] },
    });
    await api.as(token.token).call("GetOrganization");

    expect((await api.call("DeleteOrganization")).status).toBe(204);
    await api.refused("GetOrganization", "NotFoundError");
    await api.refused("RegisterWorkflow", "NotFoundError", { body: { name: "w" } });
    await api.refused("DeleteOrganization", "NotFoundError");
    await api.as(token.token).refused("GetOrganization", "AuthenticationError");
    const { body } = await owner.client.call<{ organizations: { organizationId: string }[] }>("ListOrganizations");
    expect(body.organizations.map((organization) => organization.organizationId)).not.toContain(organizationId);
  });

  test("an organization with an unfinished job cannot be deleted, and all goes on as before", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    await api.refused("DeleteOrganization", "ConflictError");
    await submitAndWait(api, workflowId).then((other) => api.call("CancelJob", { params: { jobId: other.jobId } }));
    await api.call("CancelJob", { params: { jobId } });
    await api.call("DeleteOrganization");
  });
});
