import { randomUUID } from "node:crypto";
import { type AuditRow, ask, rowsOfAction, rowsOfRequest, sealAll } from "@stepwell/testing/audit-rows.ts";
import type { Client } from "@stepwell/testing/client.ts";
import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, registerVersion, submitAndWait } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { insertAuditEntries } from "../../../src/store/audit/audit.ts";

interface Entry {
  readonly entryId: string;
  readonly recordedAt: string;
  readonly actor: { readonly id: string; readonly name?: string };
  readonly action: string;
  readonly outcome: string;
  readonly target: { readonly type: string; readonly id?: string };
  readonly details: Readonly<Record<string, unknown>>;
  readonly seal?: { readonly number: number };
}

interface EntryPage {
  readonly entries: readonly Entry[];
  readonly nextPageToken?: string;
}

onOneStore((home) => {
  // The log is silent because one test makes the store fail.
  const service = useService(home, { STEPWELL_LOG_LEVEL: "fatal" });

  async function listed(api: Client, query: Record<string, string | number> = {}): Promise<readonly Entry[]> {
    return (await api.call<EntryPage>("ListAudit", { query })).body.entries;
  }

  async function apiToken(api: Client, permissions: readonly string[]) {
    const { body } = await api.call<{ token: string; tokenId: string }>("CreateApiToken", {
      body: { name: "program", permissions },
    });
    return { ...body, client: api.as(body.token) };
  }

  test("the trail shows, newest first, who changed what and how", async () => {
    const { api, owner, organizationId } = await service.newOrganization();
    const { workflowId, versionId } = await deploy(api, waitingDefinition);
    const second = await registerVersion(api, workflowId, straightDefinition);
    await api.call("SetWorkflowVersionTag", {
      params: { workflowId, tag: "$LIVE" },
      body: { versionId: second.versionId },
    });
    await api.call("DeleteTag", { params: { workflowId, tag: "$LIVE" } });
    await api.call("UpdateOrganization", { body: { name: "renamed", displayName: "renamed" } });
    await api.call("UpdateOrganization", { body: { name: "renamed", displayName: "again" } });
    const { tokenId } = await apiToken(api, ["job:read"]);
    await api.call("UpdateApiToken", { params: { tokenId }, body: { permissions: ["job:read", "job:list"] } });
    await api.call("RevokeApiToken", { params: { tokenId } });
    await api.call("DeleteWorkflow", { params: { workflowId } });

    const entries = await listed(api);
    expect(entries.every(({ actor, outcome }) => actor.id === owner.userId && outcome === "accepted")).toBe(true);
    const target = { type: "tag", id: "$LIVE" };
    const one = { versionId, versionNumber: 1 };
    const two = { versionId: second.versionId, versionNumber: 2 };
    expect(entries).toMatchObject([
      { action: "DeleteWorkflow", target: { type: "workflow", id: workflowId }, details: { name: expect.any(String) } },
      { action: "RevokeApiToken", target: { type: "apiToken", id: tokenId }, details: { name: "program" } },
      {
        action: "UpdateApiToken",
        details: { permissions: { from: ["job:read"], to: ["job:read", "job:list"] } },
      },
      {
        action: "CreateApiToken",
        target: { type: "apiToken", id: tokenId },
        details: { name: "program", permissions: ["job:read"], expiresAt: expect.any(String) },
      },
      { action: "UpdateOrganization", details: { displayName: { from: "renamed", to: "again" } } },
      { action: "UpdateOrganization", target: { type: "organization", id: organizationId } },
      { action: "DeleteTag", target, details: { workflowId, from: two, to: null } },
      { action: "SetWorkflowVersionTag", target, details: { workflowId, from: one, to: two } },
      { action: "RegisterWorkflowVersion", target: { type: "version", id: second.versionId } },
      { action: "SetWorkflowVersionTag", target, details: { workflowId, from: null, to: one } },
      { action: "RegisterWorkflowVersion", details: { workflowId, versionNumber: 1 } },
      { action: "RegisterWorkflow", target: { type: "workflow", id: workflowId } },
      { action: "CreateOrganization", target: { type: "organization", id: organizationId } },
    ]);
    // The details name only the fields that differ, and no text of a definition.
    expect(Object.keys(entries[4]?.details ?? {})).toEqual(["displayName"]);
    expect(JSON.stringify(entries)).not.toContain("integrationDetails");
  });

  test("changes of jobs by users are recorded; events of programs, and requests without an effect, are not", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    const job = { params: { jobId } };
    const secretive = { eventId: "note", payload: { card: "4111" } };
    const { client: program, tokenId } = await apiToken(api, ["job:event:send", "job:cancel", "job:submit"]);

    expect(
      await rowsOfRequest(await program.call("SendJobEvent", { ...job, body: { eventId: "x" } }), service),
    ).toEqual([]);
    const sent = await rowsOfRequest(await api.call("SendJobEvent", { ...job, body: secretive }), service);
    expect(sent).toMatchObject([{ target_type: "job", target_id: jobId, details: { eventId: "note" } }]);
    expect(JSON.stringify(sent)).not.toContain("4111");
    const duplicate = await api.call("SendJobEvent", { ...job, body: secretive });
    expect(duplicate.body.outcome).toBe("duplicate");
    expect(await rowsOfRequest(duplicate, service)).toEqual([]);

    const cancelled = await rowsOfRequest(await program.call("CancelJob", job), service);
    expect(cancelled).toMatchObject([{ actor: { type: "apiToken", id: tokenId }, target_id: jobId }]);
    expect(await rowsOfRequest(await api.call("CancelJob", job), service)).toEqual([]);
    expect(await rowsOfRequest(await api.call("ResumeJob", job), service)).toHaveLength(1);
    expect(await rowsOfRequest(await api.refused("ResumeJob", "ConflictError", job), service)).toEqual([]);
  });

  test("a request that is repeated under its key adds one row", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    const key = () => ({ headers: { "idempotency-key": randomUUID() } });
    const calls = [
      ["RegisterWorkflow", { body: { name: "twice" }, ...key() }],
      ["SendJobEvent", { params: { jobId }, body: { eventId: "approved" }, ...key() }],
      ["CreateOrganization", { body: { name: "twice", displayName: "twice" }, ...key() }],
    ] as const;
    for (const [operationId, options] of calls) {
      const first = await api.call(operationId, options);
      const again = await api.call(operationId, options);
      expect(await rowsOfRequest(first, service), operationId).toHaveLength(1);
      expect(await rowsOfRequest(again, service), operationId).toEqual([]);
    }
    expect(await rowsOfAction(service, organizationId, "SendJobEvent")).toHaveLength(1);
  });

  test("a change that is rolled back adds no row", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { database } = service.running;
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    // The last statement of a change with an Idempotency-Key stores the answer under the key. With the key "fails", that statement fails, and so the
    // whole change is rolled back.
    await ask(
      database,
      "ALTER TABLE idempotency_key ADD CONSTRAINT full_disk CHECK (answer IS NULL OR idempotency_key <> 'fails')",
    );
    try {
      const headers = { "idempotency-key": "fails" };
      await api.refused("RegisterWorkflow", "UnhandledError", { body: { name: "gone" }, headers });
      await api.refused("CancelJob", "UnhandledError", { params: { jobId }, headers });
    } finally {
      await ask(database, "ALTER TABLE idempotency_key DROP CONSTRAINT full_disk");
    }
    expect(await rowsOfAction(service, organizationId, "CancelJob")).toEqual([]);
    expect(await rowsOfAction(service, organizationId, "RegisterWorkflow")).toHaveLength(1);
    expect((await api.call("GetJob", { params: { jobId } })).body.status).toBe("RUNNING");
  });

  test("no row contains a secret", async () => {
    const { api, owner, organizationId } = await service.newOrganization();
    const { token, tokenId } = await apiToken(api, ["job:read"]);
    await api.call("UpdateApiToken", { params: { tokenId }, body: { name: "other" } });
    await api.call("RevokeApiToken", { params: { tokenId } });
    await api.as(token).refused("CancelJob", "AuthenticationError", { params: { jobId: randomUUID() } });
    const { database } = service.running;
    const rows = await ask<{ text: string }>(
      database,
      "SELECT audit_entry::text AS text FROM audit_entry WHERE organization_id = $1",
      organizationId,
    );
    const all = rows.map(({ text }) => text).join("\n");
    expect(all).toContain(tokenId);
    const hashes = await ask<{ hash: string }>(
      database,
      "SELECT encode(token_hash, 'hex') AS hash FROM api_token WHERE organization_id = $1",
      organizationId,
    );
    const secrets = [token, owner.token].flatMap((text) => [text, text.split("_")[1] ?? text, text.slice(0, 12)]);
    for (const secret of [...secrets, ...hashes.map(({ hash }) => hash)]) expect(all).not.toContain(secret);
  });

  test("filters limit the trail, and pages follow each other without a gap", async () => {
    const { api, owner } = await service.newOrganization();
    for (const name of ["a", "b", "c"]) await api.call("RegisterWorkflow", { body: { name } });
    const { client, tokenId } = await apiToken(api, ["workflow:create"]);
    const { body } = await client.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "d" } });
    await client.refused("DeleteWorkflow", "AuthorizationError", { params: { workflowId: body.workflowId } });
    const all = await listed(api);
    expect(all.map(({ action }) => action)).toEqual([
      "DeleteWorkflow",
      "RegisterWorkflow",
      "CreateApiToken",
      "RegisterWorkflow",
      "RegisterWorkflow",
      "RegisterWorkflow",
      "CreateOrganization",
    ]);

    const actionsOf = async (query: Record<string, string>) => (await listed(api, query)).map(({ action }) => action);
    expect(await actionsOf({ action: "CreateApiToken" })).toEqual(["CreateApiToken"]);
    expect(await actionsOf({ actorId: tokenId.toUpperCase() })).toEqual(["DeleteWorkflow", "RegisterWorkflow"]);
    expect(await actionsOf({ actorId: owner.userId, action: "RegisterWorkflow" })).toHaveLength(3);
    expect(await actionsOf({ targetType: "organization" })).toEqual(["CreateOrganization"]);
    expect(await actionsOf({ targetId: body.workflowId })).toEqual(["DeleteWorkflow", "RegisterWorkflow"]);
    expect(await actionsOf({ outcome: "denied" })).toEqual(["DeleteWorkflow"]);
    const middle = all[3]?.recordedAt ?? "";
    const isSince = (entry: Entry) => entry.recordedAt >= middle;
    expect(await actionsOf({ after: middle })).toEqual(all.filter(isSince).map(({ action }) => action));
    expect(await listed(api, { before: middle })).toEqual(all.filter((entry) => !isSince(entry)));
    await api.refused("ListAudit", "ValidationError", { query: { after: middle, before: middle } });
    await api.refused("ListAudit", "ValidationError", { query: { outcome: "maybe" } });

    const paged: Entry[] = [];
    for (let pageToken: string | undefined; ; ) {
      const query = { pageSize: 3, ...(pageToken !== undefined && { pageToken }) };
      const { body: page } = await api.call<EntryPage>("ListAudit", { query });
      paged.push(...page.entries);
      pageToken = page.nextPageToken;
      if (pageToken === undefined) break;
    }
    expect(paged).toEqual(all);
  });

  test("an entry shows its seal once it is sealed", async () => {
    const { api, organizationId } = await service.newOrganization();
    await sealAll(service, organizationId);
    expect((await listed(api)).map(({ seal }) => seal)).toEqual([{ number: 1 }]);
  });

  test("the trail can be verified over HTTP, and each finding is one sentence", async () => {
    const { api, organizationId } = await service.newOrganization();
    await api.call("RegisterWorkflow", { body: { name: "a" } });
    await sealAll(service, organizationId);
    const { body: intact } = await api.call<{ newestSeal: { number: number; hash: string } }>("VerifyAudit");
    expect(intact).toMatchObject({ isIntact: true, checkedEntries: 2, unsealedEntries: 0, findings: [] });
    const { number, hash } = intact.newestSeal;
    const expectation = { query: { expect: `${number}:${hash}` } };
    expect((await api.call("VerifyAudit", expectation)).body.isIntact).toBe(true);
    const wrong = { query: { expect: `${number}:${"0".repeat(64)}` } };
    expect((await api.call("VerifyAudit", wrong)).body.findings).toMatchObject([{ kind: "seal-unexpected" }]);
    await api.refused("VerifyAudit", "ValidationError", { query: { expect: "newest" } });

    const [row] = await rowsOfAction(service, organizationId, "RegisterWorkflow");
    await ask(service.running.database, "DELETE FROM audit_entry WHERE entry_id = $1", row?.entry_id);
    const answers = await Promise.all([1, 2, 3].map(() => api.call("VerifyAudit")));
    for (const { body } of answers) {
      expect(body).toMatchObject({
        isIntact: false,
        findings: [{ kind: "entry-missing", entryId: row?.entry_id, detail: expect.stringContaining("was removed") }],
      });
    }
  });

  test("an export of 5,000 entries is complete, in order, and valid in both formats", async () => {
    const { api, organizationId, owner } = await service.newOrganization();
    const { engine, database } = service.running;
    const name = '=HYPERLINK("x"), or\nnot';
    await database.transaction(async (transaction) => {
      for (let batch = 0; batch < 5; batch += 1) {
        const entries = Array.from({ length: 1_000 }, (_, index) => ({
          organizationId,
          entryId: engine.newId(),
          recordedAt: engine.now(),
          actor: { type: "user", id: owner.userId, name } as const,
          action: "SetWorkflowVersionTag",
          outcome: "accepted" as const,
          targetType: "tag",
          targetId: `-${batch * 1_000 + index}`,
          requestId: randomUUID(),
          address: "::1",
          details: { note: 'a, "b"' },
        }));
        await insertAuditEntries(transaction, entries);
      }
    });
    const jsonl = await api.call<string>("ExportAudit");
    const lines = jsonl.body.trimEnd().split("\n");
    const entries = lines.map((line) => JSON.parse(line) as Entry);
    expect(entries).toHaveLength(5_001);
    const ids = entries.map(({ entryId }) => entryId);
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(new Set(entries.map(({ target }) => target.id))).toContain("-4999");

    const csv = await api.call<string>("ExportAudit", { query: { format: "csv", targetId: "-7" } });
    expect(csv.headers.get("content-disposition")).toContain(`audit-${organizationId}.csv`);
    const [head, line, ...rest] = csv.body.split("\r\n");
    expect(head).toBe(
      "entryId,recordedAt,actorType,actorId,actorName,action,outcome,targetType,targetId,requestId,address,details,sealNumber",
    );
    expect(line).toContain(
      `,user,${owner.userId},"'=HYPERLINK(""x""), or\nnot",SetWorkflowVersionTag,accepted,tag,'-7,`,
    );
    expect(line).toContain(`,::1,"{""note"":""a, \\""b\\""""}",`);
    expect(rest).toEqual([""]);
    const whole = await api.call<string>("ExportAudit", { query: { format: "csv" } });
    expect(whole.body.split("\r\n")).toHaveLength(5_003);
  });

  test("an export stops when its client disconnects", async () => {
    const { api, organizationId, owner } = await service.newOrganization();
    const { database } = service.running;
    await ask(
      database,
      `INSERT INTO audit_entry (organization_id, entry_id, recorded_at, actor, actor_id, action, outcome, target_type, request_id,
         address, details)
       SELECT $1::uuid, gen_random_uuid(), now(), '{"type":"user","id":"x"}', NULL, 'Test', 'accepted', 'job', '', '',
         json_build_object('filler', repeat('x', 2000))
       FROM generate_series(1, 10000)`,
      organizationId,
    );
    let pages = 0;
    const { query } = database;
    database.query = (statement, values) => {
      if (statement.name === "list_oldest_audit_entries") pages += 1;
      return query.call(database, statement, values) as never;
    };
    try {
      const url = `${service.baseUrl}/organizations/${organizationId}/audit/export`;
      const response = await fetch(url, { headers: { authorization: `Bearer ${owner.token}` } });
      const reader = response.body?.getReader();
      await reader?.read();
      await reader?.cancel();
      // When later requests are answered, the reads that were under way when the client left have ended.
      for (let request = 0; request < 20; request += 1) await api.call("ListAudit", { query: { pageSize: 1 } });
      const then = pages;
      for (let request = 0; request < 20; request += 1) await api.call("ListAudit", { query: { pageSize: 1 } });
      expect(pages).toBe(then);
      expect(pages).toBeLessThan(20);
    } finally {
      database.query = query;
    }
  });

  test("rows of a deleted organization stay, and one of them records the deletion", async () => {
    const { api, organizationId } = await service.newOrganization();
    const answer = await api.call("DeleteOrganization");
    const rows: AuditRow[] = await rowsOfRequest(answer, service);
    expect(rows).toMatchObject([{ organization_id: organizationId, action: "DeleteOrganization" }]);
    await api.refused("ListAudit", "NotFoundError");
  });
});
