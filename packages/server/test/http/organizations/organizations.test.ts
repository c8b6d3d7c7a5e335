import { randomUUID } from "node:crypto";
import { waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { said } from "@stepwell/testing/notes.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

interface Organization {
  readonly organizationId: string;
  readonly key: string;
}

interface OrganizationList {
  readonly organizations: readonly Organization[];
}

const acme = { name: "acme", displayName: "Acme Ltd." };

onOneStore((home) => {
  const service = useService(home);

  test("an organization is created, found, listed and renamed, and its creator is its owner", async () => {
    const user = await service.newUser();
    const created = await user.client.call<Organization>("CreateOrganization", { body: acme });
    const { organizationId } = created.body;
    expect(created.status).toBe(201);
    expect(created.headers.get("location")).toBe(`/organizations/${organizationId}`);
    expect(created.body).toMatchObject({ key: expect.stringMatching(/^acme/) });

    const api = user.client.bind({ organizationId });
    expect((await api.call("GetOrganization")).body).toEqual(created.body);
    expect((await api.call("ListOrganizations")).body).toEqual({ organizations: [created.body] });
    const renamed = await api.call("UpdateOrganization", { body: { displayName: "Acme" } });
    expect(renamed.body).toMatchObject({ name: "acme", displayName: "Acme" });
    expect((await api.call("GetOrganization")).body).toEqual(renamed.body);
  });

  test.each([
    ["no name", { displayName: "x" }, "/name"],
    ["an empty name", { name: "", displayName: "x" }, "/name"],
    ["a blank name", { name: " \u00a0 ", displayName: "x" }, "/name"],
    ["a name of 10,000 characters", { name: "x".repeat(10_000), displayName: "x" }, "/name"],
    ["a control character", { name: "a\nb", displayName: "x" }, "/name"],
    ["a change of text direction", { name: "x", displayName: "a\u202eb" }, "/displayName"],
    ["a zero-width character", { name: "x", displayName: "a\u200bb" }, "/displayName"],
    ["a mark of direction of another script", { name: "x", displayName: "a\u061cb" }, "/displayName"],
    ["an invisible word joiner", { name: "x", displayName: "a\u2060b" }, "/displayName"],
    ["a separator of lines", { name: "x", displayName: "a\u2028b" }, "/displayName"],
    ["an invisible letter", { name: "\u3164", displayName: "x" }, "/name"],
    ["a braille pattern without dots", { name: "\u2800", displayName: "x" }, "/name"],
    ["a variation selector without a character", { name: "\ufe0f", displayName: "x" }, "/name"],
    ["a key of two characters", { ...acme, key: "ab" }, "/key"],
    ["a key of 65 characters", { ...acme, key: "x".repeat(65) }, "/key"],
    ["a key in capitals", { ...acme, key: "Acme" }, "/key"],
    ["a key that ends in a hyphen", { ...acme, key: "acme-" }, "/key"],
    ["a key with a line break at its end", { ...acme, key: "acme\n" }, "/key"],
    ["a key in the form of an id", { ...acme, key: randomUUID() }, "/key"],
    ["a key that is null", { ...acme, key: null }, "/key"],
    ["a number", { name: 1, displayName: "x" }, "/name"],
    ["an array", { name: ["x"], displayName: "x" }, "/name"],
    ["an object", { name: {}, displayName: "x" }, "/name"],
    ["a field that the caller cannot set", { name: "x", displayName: "x", organizationId: "x" }, "/organizationId"],
  ])("%s is 400 with a pointer", async (_name, body, pointer) => {
    const user = await service.newUser();
    const { body: problem } = await user.client.refused("CreateOrganization", "ValidationError", { body });
    expect(problem.errors?.map((error) => error.pointer)).toEqual([pointer]);
    expect((await user.client.call("ListOrganizations")).body).toEqual({ organizations: [] });
  });

  test("the same name, also in another case or form, makes a different organization", async () => {
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

  test("a name that looks like code is plain text", async () => {
    const user = await service.newUser();
    for (const name of ["<script>alert(1)</script>", "{{7*7}}", "=cmd()", "'; DROP TABLE job; --", "$(input)"]) {
      const { body } = await user.client.call("CreateOrganization", { body: { name, displayName: name } });
      expect(body).toMatchObject({ name, displayName: name });
    }
  });

  test("a requested key is used unchanged, and a second organization of the service cannot have it", async () => {
    const user = await service.newUser();
    const key = `k-${randomUUID()}`;
    const create = (names: object) =>
      user.client.call<Organization>("CreateOrganization", { body: { ...acme, ...names } });
    const { body } = await create({ key });
    expect(body.key).toBe(key);
    const { client } = await service.newUser();
    const refused = await client.refused("CreateOrganization", "ConflictError", { body: { ...acme, key } });
    expect(refused.body.detail).toContain(key);
    expect((await client.call("ListOrganizations")).body).toEqual({ organizations: [] });

    const api = user.client.bind({ organizationId: body.organizationId });
    expect((await api.call("UpdateOrganization", { body: { name: "other" } })).body).toMatchObject({ key });
    await api.call("DeleteOrganization");
    expect((await create({ key })).body.key).toBe(key);
  });

  test("if no key is requested, one is made from the name, with an ending if that key is taken", async () => {
    const user = await service.newUser();
    const keyFor = async (name: string) =>
      (await user.client.call<Organization>("CreateOrganization", { body: { ...acme, name } })).body.key;
    const word = randomUUID();
    expect(await keyFor(`  Café ${word}, Inc. `)).toBe(`cafe-${word}-inc`);
    expect(await keyFor(`café ${word} inc`)).toMatch(new RegExp(`^cafe-${word}-inc-[0-9a-f]{8}$`));
    expect(await keyFor(word)).toBe(`organization-${word}`);
    const long = `${word}-`.repeat(6);
    expect(await keyFor(long)).toBe(long.slice(0, 64));
    expect(await keyFor(long)).toMatch(new RegExp(`^${long.slice(0, 55)}-[0-9a-f]{8}$`));
    expect(await keyFor("株式会社")).toMatch(/^organization/);
    expect(await keyFor("株式会社")).toMatch(/^organization-[0-9a-f]{8}$/);
  });

  test("if several organizations request one key at the same moment, one gets it", async () => {
    const user = await service.newUser();
    const body = { ...acme, key: `k-${randomUUID()}` };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => user.client.callAny("CreateOrganization", { body })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    expect((await user.client.call<OrganizationList>("ListOrganizations")).body.organizations).toHaveLength(1);
  });

  test("simultaneously created organizations with one name have different keys", async () => {
    const user = await service.newUser();
    const body = { ...acme, name: `at once ${randomUUID()}` };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => user.client.call<Organization>("CreateOrganization", { body })),
    );
    expect(new Set(answers.map((answer) => answer.body.key)).size).toBe(8);
  });

  test("an organization without a key, from a node of an earlier release, gets one when it is first read", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { body } = await api.call<Organization>("GetOrganization");
    await service.running.database.query(said("DELETE FROM organization_key WHERE organization_id = $1"), [
      organizationId,
    ]);
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.call("GetOrganization")));
    for (const answer of answers) expect(answer.body).toEqual(body);
    expect((await api.call("ListOrganizations")).body).toMatchObject({ organizations: [body] });
  });

  test("an organization without a key gets one with its next change", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { body } = await api.call<Organization>("GetOrganization");
    await service.running.database.query(said("DELETE FROM organization_key WHERE organization_id = $1"), [
      organizationId,
    ]);
    const displayName = "Another";
    expect((await api.call("UpdateOrganization", { body: { displayName } })).body).toEqual({ ...body, displayName });
  });

  test("a first answer that an earlier release stored without the organization's key is completed", async () => {
    const user = await service.newUser();
    const options = { body: acme, headers: { "idempotency-key": "k" } };
    const { body } = await user.client.call("CreateOrganization", options);
    const earlier = "UPDATE user_idempotency_key SET answer = (answer::jsonb - 'key')::json WHERE user_id = $1";
    await service.running.database.query(said(earlier), [user.userId]);
    expect((await user.client.call("CreateOrganization", options)).body).toEqual(body);
  });

  test("an update that changes nothing is 400", async () => {
    const { api } = await service.newOrganization();
    await api.refused("UpdateOrganization", "ValidationError", { body: {} });
  });

  test("a deleted organization is gone for all users, and its tokens are not valid any more", async () => {
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

  test("an organization with an unfinished job cannot be deleted, and everything continues as before", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    await api.refused("DeleteOrganization", "ConflictError");
    await submitAndWait(api, workflowId).then((other) => api.call("CancelJob", { params: { jobId: other.jobId } }));
    await api.call("CancelJob", { params: { jobId } });
    await api.call("DeleteOrganization");
  });
});
