import { randomUUID } from "node:crypto";
import { ask, rowsOfAction } from "@stepwell/testing/audit-rows.ts";
import type { CallOptions, Client } from "@stepwell/testing/client.ts";
import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, registerVersion } from "@stepwell/testing/flow.ts";
import { newSignedInPerson, refusedCount, rightPassword } from "@stepwell/testing/people.ts";
import { type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

interface Token {
  readonly tokenId: string;
  readonly token: string;
}

onOneStore((home) => {
  const service = useService(home);

  const attempt = (id: string, number?: number) => ({
    headers: {
      "amz-sdk-invocation-id": id,
      ...(number !== undefined && { "amz-sdk-request": `attempt=${number}; max=3` }),
    },
  });
  const submit = async (api: Client, body: object, options: CallOptions) =>
    (await api.call<{ jobId: string }>("SubmitJob", { body, ...options })).body.jobId;
  const createToken = async (api: Client, options: CallOptions) =>
    (await api.call<Token>("CreateApiToken", { body: { name: "t", permissions: ["job:read"] }, ...options })).body;
  const works = async (token: string) => (await service.client(token).callAny("WhoAmI", {})).status === 200;

  async function deployed(): Promise<TestOrganization & { readonly workflowId: string }> {
    const organization = await service.newOrganization();
    return { ...organization, ...(await deploy(organization.api, straightDefinition)) };
  }

  test("another body, another path or another operation under the same id is another request, and no conflict", async () => {
    const { api, workflowId } = await deployed();
    const other = await deploy(api, waitingDefinition);
    const once = attempt(randomUUID());
    const first = await submit(api, { workflowId }, once);
    expect(await submit(api, { workflowId, inputJson: { a: 1 } }, once)).not.toBe(first);
    expect(await submit(api, { workflowId }, once)).toBe(first);
    const body = { definition: straightDefinition };
    const versions = await Promise.all(
      [workflowId, other.workflowId].map((id) =>
        api.call("RegisterWorkflowVersion", { params: { workflowId: id }, body, ...once }),
      ),
    );
    expect(versions[0]?.body.versionId).not.toBe(versions[1]?.body.versionId);
  });

  test("the time for which the answer may be held does not change the identity of a request", async () => {
    const { api, workflowId } = await deployed();
    const once = attempt(randomUUID());
    const first = await submit(api, { workflowId }, once);
    expect(await submit(api, { workflowId }, { ...once, query: { waitSeconds: 5 } })).toBe(first);
  });

  test("an id has no effect for another caller, not even for another token of the same person", async () => {
    const organization = await deployed();
    const { api, workflowId } = organization;
    const colleague = await service.newMember(organization, ["developer"]);
    const { body } = await api.call<Token>("CreateApiToken", { body: { name: "t", permissions: ["job:submit"] } });
    const once = attempt(randomUUID());
    const callers = [api, colleague.api, api.as(body.token)];
    const jobs = await Promise.all(callers.map((caller) => submit(caller, { workflowId }, once)));
    expect(new Set(jobs).size).toBe(3);

    const first = await createToken(api, once);
    const owner = await service.newMember(organization, ["owner"]);
    const second = await createToken(owner.api, once);
    expect([await works(first.token), await works(second.token)]).toEqual([true, true]);
  });

  test("a caller who repeats a call still needs the permission for it", async () => {
    const organization = await deployed();
    const { api, workflowId } = organization;
    const permissions = ["job:submit", "job:read"];
    const { body } = await api.call<Token>("CreateApiToken", { body: { name: "t", permissions } });
    const once = attempt(randomUUID());
    await submit(api.as(body.token), { workflowId }, once);
    const narrower = { params: { tokenId: body.tokenId }, body: { permissions: ["job:read"] } };
    await api.call("UpdateApiToken", narrower);
    await api.as(body.token).refused("SubmitJob", "AuthorizationError", { body: { workflowId }, ...once });
  });

  test.each([
    ["nothing", ""],
    ["a letter", "x"],
    ["a UUID and a letter", `${randomUUID()}x`],
    ["a UUID in braces", `{${randomUUID()}}`],
    ["a UUID without hyphens", randomUUID().replaceAll("-", "")],
    ["5,000 letters", "x".repeat(5_000)],
  ])("an invocation id that is not a UUID is ignored: %s", async (_name, id) => {
    const { api, workflowId } = await deployed();
    const [first, second] = [
      await submit(api, { workflowId }, attempt(id)),
      await submit(api, { workflowId }, attempt(id)),
    ];
    expect(second).not.toBe(first);
  });

  test("an invocation id has no effect beside an Idempotency-Key", async () => {
    const { api, workflowId } = await deployed();
    const { headers } = attempt(randomUUID());
    const keyed = (key: string) => ({ headers: { ...headers, "idempotency-key": key } });
    const [one, other] = [keyed(randomUUID()), keyed(randomUUID())];
    const first = await submit(api, { workflowId }, one);
    expect(await submit(api, { workflowId }, other)).not.toBe(first);
    expect(await submit(api, { workflowId }, one)).toBe(first);
    await api.refused("SubmitJob", "ConflictError", { body: { workflowId, inputJson: { a: 1 } }, ...one });
    const body = { name: "t", permissions: ["job:read"] };
    await api.refused("CreateApiToken", "ValidationError", { body, ...one });
  });

  test("ten simultaneous attempts have one effect, and one of their ten secrets remains", async () => {
    const { api, owner, workflowId } = await deployed();
    const ten = Array.from({ length: 10 }, (_, index) => index);
    const [submitting, creating, making] = [attempt(randomUUID()), attempt(randomUUID()), attempt(randomUUID())];
    const jobs = await Promise.all(ten.map(() => submit(api, { workflowId }, submitting)));
    expect(new Set(jobs).size).toBe(1);
    const body = { name: "n", displayName: "n" };
    const created = await Promise.all(ten.map(() => owner.client.call("CreateOrganization", { body, ...creating })));
    expect(new Set(created.map((answer) => answer.body.organizationId)).size).toBe(1);
    const tokens = await Promise.all(ten.map(() => createToken(api, making)));
    const working = await Promise.all(tokens.map(({ token }) => works(token)));
    expect(working.filter(Boolean)).toHaveLength(1);
    expect((await api.call<{ apiTokens: unknown[] }>("ListApiTokens")).body.apiTokens).toHaveLength(1);
  });

  test("an attempt that arrives after a later attempt was answered does not end the secret of the later attempt", async () => {
    const { api } = await service.newOrganization();
    const id = randomUUID();
    const second = await createToken(api, attempt(id, 2));
    const body = { name: "t", permissions: ["job:read"] };
    const late = await api.refused("CreateApiToken", "ConflictError", { body, ...attempt(id, 1) });
    expect(late.body.detail).toContain("later attempt");
    expect(await works(second.token)).toBe(true);
    const third = await createToken(api, attempt(id, 3));
    expect([await works(second.token), await works(third.token)]).toEqual([false, true]);
  });

  test("a rejected call leaves its invocation id free", async () => {
    const { api } = await service.newOrganization();
    const once = attempt(randomUUID());
    const body = { name: "taken" };
    await api.call("RegisterWorkflow", { body });
    await api.refused("RegisterWorkflow", "ConflictError", { body, ...once });
    const { workflows } = (await api.call<{ workflows: { workflowId: string }[] }>("ListWorkflows")).body;
    await api.call("DeleteWorkflow", { params: { workflowId: workflows[0]?.workflowId ?? "" } });
    await api.call("RegisterWorkflow", { body, ...once });
  });

  test("an invocation id is forgotten after the same time as an Idempotency-Key", async () => {
    const { api, organizationId, workflowId } = await deployed();
    const once = attempt(randomUUID());
    const first = await submit(api, { workflowId }, once);
    const { database } = service.running;
    const aged = "UPDATE idempotency_key SET created_at = created_at - interval '25 hours' WHERE organization_id = $1";
    await ask(database, aged, organizationId);
    expect(await submit(api, { workflowId }, once)).not.toBe(first);
  });

  test("the audit trail records the ended token and the token that replaced it, and the store contains neither", async () => {
    const { api, organizationId, owner } = await service.newOrganization();
    const once = attempt(randomUUID());
    const [lost, left] = [await createToken(api, once), await createToken(api, once)];
    expect(await rowsOfAction(service, organizationId, "CreateApiToken")).toMatchObject([
      { target_id: lost.tokenId },
      { target_id: left.tokenId },
    ]);
    expect(await rowsOfAction(service, organizationId, "RevokeApiToken")).toMatchObject([
      { target_id: lost.tokenId, details: { replacedBy: left.tokenId }, actor_id: owner.userId },
    ]);
    const kept = await ask(
      service.running.database,
      "SELECT * FROM idempotency_key WHERE organization_id = $1",
      organizationId,
    );
    expect(kept).toHaveLength(1);
    for (const { token } of [lost, left]) expect(JSON.stringify(kept)).not.toContain(token.slice(4));
  });

  test("the audit trail records the ended invitation and the invitation that replaced it", async () => {
    const { api, organizationId } = await service.newOrganization();
    const invite = { body: { roles: ["viewer"] }, ...attempt(randomUUID()) };
    const [lost, left] = [await api.call("CreateInvitation", invite), await api.call("CreateInvitation", invite)];
    expect(await rowsOfAction(service, organizationId, "CreateInvitation")).toHaveLength(2);
    expect(await rowsOfAction(service, organizationId, "RevokeInvitation")).toMatchObject([
      { target_id: lost.body.invitationId, details: { replacedBy: left.body.invitationId } },
    ]);
  });

  test("a repeated rotation keeps the secret that programs use, for the overlap of the first attempt", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { token, tokenId } = await createToken(api, {});
    const rotate = async (options: CallOptions) =>
      (
        await api.call<Token & { previousExpiresAt: string }>("RotateApiToken", {
          params: { tokenId },
          body: { overlapSeconds: 600 },
          ...options,
        })
      ).body;
    const once = attempt(randomUUID());
    const [lost, left] = [await rotate(once), await rotate(once)];
    expect(left.previousExpiresAt).toBe(lost.previousExpiresAt);
    expect(await Promise.all([token, lost.token, left.token].map(works))).toEqual([true, false, true]);
    const rows = await rowsOfAction(service, organizationId, "RotateApiToken");
    expect(rows.map(({ details }) => details.lostSecretEnded)).toEqual([undefined, true]);
    // Meanwhile somebody else has rotated the token, and programs use the new secret.
    const theirs = await rotate({});
    const again = await rotate(once);
    expect(await Promise.all([left.token, theirs.token, again.token].map(works))).toEqual([false, true, true]);
  });

  test("when CreateUserToken is repeated, the account's activity records both user tokens and the revocation of the first one", async () => {
    const { client } = await newSignedInPerson(service);
    const once = { body: { name: "t", password: rightPassword }, ...attempt(randomUUID()) };
    await client.call("CreateUserToken", once);
    await client.call("CreateUserToken", once);
    const { body } = await client.call<{ activities: { action: string }[] }>("ListAccountActivity");
    expect(body.activities.map(({ action }) => action)).toEqual([
      "user-token-created",
      "user-token-revoked",
      "user-token-created",
    ]);
  });

  test("a repeated change of the password succeeds, and no stored value reveals the password", async () => {
    const person = await newSignedInPerson(service);
    const passwords = { currentPassword: rightPassword, newPassword: "another long password" };
    const id = randomUUID();
    const once = { body: passwords, ...attempt(id) };
    for (const _ of [1, 2]) expect((await person.client.call("ChangePassword", once)).status).toBe(204);
    expect(await refusedCount(service, person)).toBe(0);
    const keyed = { body: passwords, headers: { "idempotency-key": id } };
    await person.client.refused("ChangePassword", "ValidationError", keyed);
    const kept = await ask<{ idempotency_key: string }>(
      service.running.database,
      "SELECT idempotency_key FROM user_idempotency_key WHERE user_id = $1",
      person.userId,
    );
    expect(kept).toHaveLength(1);
    expect(JSON.stringify(kept)).not.toContain(id);
  });

  test("a tag that another request moved meanwhile is not moved by a repetition of the first move", async () => {
    const { api } = await service.newOrganization();
    const { workflowId, versionId } = await deploy(api, straightDefinition);
    const { versionId: newer } = await registerVersion(api, workflowId, waitingDefinition);
    const params = { workflowId, tag: "stable" };
    const [set, remove] = [attempt(randomUUID()), attempt(randomUUID())];
    const first = await api.call("SetWorkflowVersionTag", { params, body: { versionId }, ...set });
    await api.call("SetWorkflowVersionTag", { params, body: { versionId: newer } });
    const again = await api.call("SetWorkflowVersionTag", { params, body: { versionId }, ...set });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect((await api.call("GetTaggedWorkflowVersion", { params })).body.versionId).toBe(newer);

    await api.call("DeleteTag", { params, ...remove });
    await api.call("SetWorkflowVersionTag", { params, body: { versionId } });
    expect((await api.call("DeleteTag", { params, ...remove })).status).toBe(204);
    expect((await api.call("GetTaggedWorkflowVersion", { params })).body.versionId).toBe(versionId);
    const { body } = await api.call<{ changes: unknown[] }>("ListTagHistory", { params });
    expect(body.changes).toHaveLength(4);
  });

  test("an invocation id on a read is ignored", async () => {
    const { api } = await service.newOrganization();
    const once = attempt(randomUUID());
    const before = await api.call("ListWorkflows", once);
    await api.call("RegisterWorkflow", { body: { name: "n" } });
    expect((await api.call("ListWorkflows", once)).body).not.toEqual(before.body);
  });
});
