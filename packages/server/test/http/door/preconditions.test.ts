import { randomUUID } from "node:crypto";
import type { Answer, CallOptions } from "@stepwell/testing/client.ts";
import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, registerVersion } from "@stepwell/testing/flow.ts";
import { type TestOrganization, type TestService, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { describe, expect, test } from "vitest";

/** A kind of thing that has an ETag, and how to make it, read it, change it in two ways, and remove it. */
interface Kind {
  readonly read: string;
  readonly change: string;
  readonly remove: string;
  readonly make: (organization: TestOrganization, service: TestService) => Promise<Made>;
}

interface Made {
  /** The first answer with the ETag. */
  readonly created: Answer<unknown>;
  readonly params: Record<string, string>;
  readonly bodies: readonly [object, object];
}

const names = [{ name: "first" }, { name: "second" }] as const;

const kinds: Readonly<Record<string, Kind>> = {
  role: {
    read: "GetRole",
    change: "UpdateRole",
    remove: "DeleteRole",
    async make({ api }) {
      const body = { name: `role-${randomUUID().slice(0, 8)}x`, permissions: ["job:list", "job:read"] };
      const created = await api.call<{ roleId: string }>("CreateRole", { body });
      const bodies = [{ description: "first" }, { permissions: ["job:read"] }] as const;
      return { created, params: { role: created.body.roleId }, bodies };
    },
  },
  member: {
    read: "GetMember",
    change: "UpdateMember",
    remove: "RemoveMember",
    async make(organization, service) {
      const { userId } = await service.newMember(organization, ["viewer"]);
      const created = await organization.api.call("GetMember", { params: { userId } });
      return { created, params: { userId }, bodies: [{ roles: ["developer"] }, { roles: ["operator", "viewer"] }] };
    },
  },
  token: {
    read: "GetApiToken",
    change: "UpdateApiToken",
    remove: "RevokeApiToken",
    async make({ api }) {
      const body = { name: "t", permissions: ["job:list"] };
      const created = await api.call<{ tokenId: string }>("CreateApiToken", { body });
      return { created, params: { tokenId: created.body.tokenId }, bodies: names };
    },
  },
  tag: {
    read: "GetTaggedWorkflowVersion",
    change: "SetWorkflowVersionTag",
    remove: "DeleteTag",
    async make({ api }) {
      const { workflowId, versionId } = await deploy(api, straightDefinition);
      const first = await registerVersion(api, workflowId, straightDefinition);
      const second = await registerVersion(api, workflowId, straightDefinition);
      const params = { workflowId, tag: "candidate" };
      const headers = { "if-none-match": "*" };
      const created = await api.call("SetWorkflowVersionTag", { params, headers, body: { versionId } });
      return { created, params, bodies: [{ versionId: first.versionId }, { versionId: second.versionId }] };
    },
  },
  organization: {
    read: "GetOrganization",
    change: "UpdateOrganization",
    remove: "DeleteOrganization",
    async make({ api }) {
      const created = await api.call<{ organizationId: string }>("CreateOrganization", {
        body: { name: "acme", displayName: "Acme" },
      });
      const { organizationId } = created.body;
      return { created, params: { organizationId }, bodies: names };
    },
  },
};

onOneStore((home) => {
  const service = useService(home);

  /** Returns the options of a call that makes the change with this If-Match. */
  function withMatch(made: Made, ifMatch: string, which: 0 | 1 = 0): CallOptions {
    return { params: made.params, headers: { "if-match": ifMatch }, body: made.bodies[which] };
  }

  describe.each(Object.entries(kinds))("a %s", (_name, { make, read, change, remove }) => {
    test("has the same ETag after its creation and when it is read, and another after a change", async () => {
      const organization = await service.newOrganization();
      const { api } = organization;
      const made = await make(organization, service);
      const { params } = made;
      const etag = made.created.headers.get("etag") ?? "";
      expect(etag).toMatch(/^"[\w-]{22}"$/);
      expect((await api.call(read, { params })).headers.get("etag")).toBe(etag);
      const changed = await api.call(change, withMatch(made, etag));
      expect(changed.headers.get("etag")).not.toBe(etag);
      expect((await api.call(read, { params })).headers.get("etag")).toBe(changed.headers.get("etag"));
    });

    test("is neither changed nor removed by a caller who read it before a change", async () => {
      const organization = await service.newOrganization();
      const { api } = organization;
      const made = await make(organization, service);
      const { params } = made;
      const old = made.created.headers.get("etag") ?? "";
      await api.call(change, { params, body: made.bodies[0] });
      const now = await api.call(read, { params });
      const etag = now.headers.get("etag") ?? "";
      const { body } = await api.refused(change, "PreconditionFailedError", withMatch(made, old, 1));
      expect(body.detail).toContain(`its ETag is ${etag} now`);
      await api.refused(remove, "PreconditionFailedError", { params, headers: { "if-match": old } });
      expect((await api.call(read, { params })).body).toEqual(now.body);
      await api.call(remove, { params, headers: { "if-match": `"other", W/${etag}` } });
    });

    test("is changed by only one of several callers who read it at the same time", async () => {
      const organization = await service.newOrganization();
      const { api } = organization;
      const made = await make(organization, service);
      const etag = made.created.headers.get("etag") ?? "";
      const writers = Array.from({ length: 8 }, (_, index) =>
        api.callAny(change, withMatch(made, etag, index % 2 === 0 ? 0 : 1)),
      );
      const statuses = (await Promise.all(writers)).map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, ...Array.from({ length: 7 }, () => 412)]);
    });
  });

  test("If-Match: * requires an existing resource, and SetWorkflowVersionTag then creates no tag", async () => {
    const { api } = await service.newOrganization();
    const { workflowId, versionId } = await deploy(api, straightDefinition);
    const params = { workflowId, tag: "new" };
    const body = { versionId };
    await api.refused("SetWorkflowVersionTag", "PreconditionFailedError", {
      params,
      headers: { "if-match": "*" },
      body,
    });
    await api.refused("GetTaggedWorkflowVersion", "NotFoundError", { params });
    await api.call("SetWorkflowVersionTag", { params, headers: { "if-none-match": "*" }, body });
    await api.call("SetWorkflowVersionTag", { params, headers: { "if-match": "*" }, body });
    const headers = { "if-none-match": "*" };
    const { body: problem } = await api.refused("SetWorkflowVersionTag", "PreconditionFailedError", {
      params,
      headers,
      body,
    });
    expect(problem.detail).toContain("exists already");
  });

  test("the use of a token and the order of permissions and roles do not change the ETag", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const { body: created, headers } = await api.call<{ token: string; tokenId: string }>("CreateApiToken", {
      body: { name: "t", permissions: ["apitoken:read"] },
    });
    const params = { tokenId: created.tokenId };
    const used = await api.as(created.token).call("GetApiToken", { params });
    expect(used.headers.get("etag")).toBe(headers.get("etag"));
    await api.call("RotateApiToken", { params });
    expect((await api.call("GetApiToken", { params })).headers.get("etag")).not.toBe(headers.get("etag"));

    const body = { name: "ordered", permissions: ["job:read", "workflow:read"] };
    const role = await api.call("CreateRole", { body });
    const turned = { permissions: ["workflow:read", "job:read"] };
    const same = await api.call("UpdateRole", { params: { role: "ordered" }, body: turned });
    expect(same.headers.get("etag")).toBe(role.headers.get("etag"));

    const { userId } = await service.newMember(organization, ["operator", "viewer"]);
    const member = await api.call("GetMember", { params: { userId } });
    const reordered = { params: { userId }, body: { roles: ["viewer", "operator"] } };
    expect((await api.call("UpdateMember", reordered)).headers.get("etag")).toBe(member.headers.get("etag"));
  });

  const malformed = ["Zk1u", '"', '"a" "b"', "", "W/", '"a",'].map((text) => [text, text] as const);
  test.each([...malformed, ["a list of 500 ETags and a quotation mark", `${'"a",'.repeat(500)}"`] as const])(
    "If-Match: %s is 400 and nothing is changed",
    async (_name, ifMatch) => {
      const { api } = await service.newOrganization();
      const body = { name: "other" };
      const { body: problem } = await api.refused("UpdateOrganization", "ValidationError", {
        headers: { "if-match": ifMatch },
        body,
      });
      expect(problem.detail).toContain("If-Match must be an ETag");
    },
  );

  test("a change that has no ETag rejects If-Match, since it would have no effect", async () => {
    const { api } = await service.newOrganization();
    const headers = { "if-match": '"a"' };
    const { body } = await api.refused("RegisterWorkflow", "ValidationError", { headers, body: { name: "w" } });
    expect(body.detail).toBe("This operation takes no If-Match. Leave the header out.");
    await api.refused("UpdateRole", "ValidationError", {
      params: { role: "none" },
      headers: { "if-none-match": "*" },
      body: { description: "x" },
    });
    await api.call("GetOrganization", { headers });
  });

  test("a repeated change gets its first answer, although the change has produced another ETag", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const made = await kinds.tag?.make(organization, service);
    if (made === undefined) throw new Error("There is no such kind.");
    const headers = { "if-match": made.created.headers.get("etag") ?? "", "amz-sdk-invocation-id": randomUUID() };
    const call = () => api.call("SetWorkflowVersionTag", { params: made.params, headers, body: made.bodies[0] });
    const first = await call();
    const again = await call();
    expect([again.headers.get("idempotency-replayed"), again.body]).toEqual(["true", first.body]);
    expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
  });

  test("a caller without the permission to change a resource gets AuthorizationError, and does not learn whether the ETag is right", async () => {
    const organization = await service.newOrganization();
    const made = await kinds.role?.make(organization, service);
    const { api } = await service.newMember(organization, ["viewer"]);
    for (const ifMatch of [made?.created.headers.get("etag") ?? "", '"wrong"']) {
      await api.refused("UpdateRole", "AuthorizationError", withMatch(made as Made, ifMatch));
    }
  });
});
