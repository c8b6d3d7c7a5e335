import { expect, test } from "vitest";
import { insertAccountActivity } from "../../src/store/account-activity.ts";
import { insertUserSession } from "../../src/store/user-sessions.ts";
import type { Client } from "../support/client.ts";
import { definitionOf, straightDefinition, waitStep } from "../support/definitions.ts";
import { deploy, registerVersion, submitAndWait } from "../support/flow.ts";
import { useService } from "../support/service.ts";
import { onEveryStore } from "../support/stores.ts";

interface Case {
  readonly operation: string;
  /** The field that holds the rows, and what tells one from another. */
  readonly rows: string;
  readonly identity: string;
  readonly params?: Record<string, string>;
}

onEveryStore((home) => {
  const service = useService(home);

  /** An organization in which every list has five rows. */
  async function populate(): Promise<{ api: Client; cases: Case[] }> {
    const organization = await service.newOrganization();
    const { api, owner } = organization;
    const first = await deploy(api, definitionOf(waitStep("w", ["x"], null)));
    const { workflowId, versionId } = first;
    for (let index = 0; index < 4; index += 1) {
      await service.newOrganization(owner);
      await service.newMember(organization, ["viewer"]);
      // What an account's owner does is written down: the fifth line follows below.
      await api.call("CreateUserToken", { body: { name: `u${index}` } });
      await api.call("RegisterWorkflow", { body: { name: `w${index}` } });
      await registerVersion(api, workflowId, straightDefinition);
      await api.call("SetWorkflowVersionTag", { params: { workflowId, tag: `t${index}` }, body: { versionId } });
      await api.call("SetWorkflowVersionTag", { params: { workflowId, tag: "$LIVE" }, body: { versionId } });
    }
    const { jobId } = await submitAndWait(api, workflowId);
    for (let index = 0; index < 5; index += 1) {
      if (index < 4) await submitAndWait(api, workflowId);
      await api.call("SendJobEvent", { params: { jobId }, body: { eventId: `other ${index}` } });
      await api.call("CreateApiToken", { body: { name: `t${index}`, permissions: ["job:read"] } });
      await api.call("CreateInvitation", { body: { roles: ["viewer"] } });
      await storeSession(owner.userId);
    }
    await storeActivity(owner.userId);
    const cases: Case[] = [
      { operation: "ListOrganizations", rows: "organizations", identity: "organizationId" },
      { operation: "ListWorkflows", rows: "workflows", identity: "workflowId" },
      { operation: "ListWorkflowVersions", rows: "versions", identity: "versionId", params: { workflowId } },
      { operation: "ListTags", rows: "tags", identity: "tag", params: { workflowId } },
      { operation: "ListTagHistory", rows: "changes", identity: "changedAt", params: { workflowId, tag: "$LIVE" } },
      { operation: "ListJobs", rows: "jobs", identity: "jobId" },
      { operation: "ListJobEvents", rows: "events", identity: "eventId", params: { jobId } },
      { operation: "ListApiTokens", rows: "apiTokens", identity: "tokenId" },
      { operation: "ListMembers", rows: "members", identity: "userId" },
      // The five that are built in.
      { operation: "ListRoles", rows: "roles", identity: "name" },
      { operation: "ListInvitations", rows: "invitations", identity: "invitationId" },
      { operation: "ListUserTokens", rows: "userTokens", identity: "tokenId" },
      { operation: "ListSessions", rows: "sessions", identity: "sessionId" },
      { operation: "ListAccountActivity", rows: "activities", identity: "activityId" },
    ];
    return { api, cases };
  }

  async function storeActivity(userId: string): Promise<void> {
    const { engine, database } = service.running;
    const how = { action: "signed-in", address: "", details: {} } as const;
    await insertAccountActivity(database, { userId, activityId: engine.newId(), happenedAt: engine.now(), ...how });
  }

  async function storeSession(userId: string): Promise<void> {
    const { engine, database } = service.running;
    const at = engine.now();
    const times = { createdAt: at, lastSeenAt: at, expiresAt: at + 60_000 };
    const how = { signedInBy: "password", userAgent: "test", address: "" };
    await insertUserSession(database, { userId, sessionId: engine.newId(), ...how, ...times });
  }

  async function readPages(api: Client, { operation, rows, identity, params = {} }: Case, pageSize: number) {
    const pages: unknown[][] = [];
    let query: Record<string, string | number> = { pageSize };
    for (;;) {
      const { body } = await api.call<Record<string, unknown>>(operation, { params, query });
      pages.push((body[rows] as Record<string, unknown>[]).map((row) => row[identity]));
      if (body.nextPageToken === undefined) return pages;
      query = { pageSize, pageToken: String(body.nextPageToken) };
    }
  }

  test("every list is read whole in pages, in the same order as at once, and every list was tried", async () => {
    const { api, cases } = await populate();
    for (const listCase of cases) {
      const [whole = []] = await readPages(api, listCase, 200);
      const pages = await readPages(api, listCase, 2);
      expect(whole, listCase.operation).toHaveLength(5);
      expect(pages.flat(), listCase.operation).toEqual(whole);
      expect(
        pages.map((page) => page.length),
        listCase.operation,
      ).toEqual([2, 2, 1]);
    }
    const { operations } = await api.document();
    const paged = operations.filter(({ declaration }) =>
      declaration.parameters?.some(({ name }) => name === "pageToken"),
    );
    // Tests of their own have: the history of a job, the audit trail, and what a file says instead of the store
    // (jobs.test.ts, audit.test.ts, sign-in-providers.test.ts).
    const tried = [...cases.map(({ operation }) => operation), "GetJobHistory", "ListAudit", "ListSignInProviders"];
    expect(paged.map(({ operationId }) => operationId).sort()).toEqual(tried.sort());
  });

  test("C38 a token of another list, another organization, other filters, or bent by a character is 400", async () => {
    const { api } = await populate();
    const other = await service.newOrganization();
    const { body } = await api.call<{ nextPageToken: string }>("ListJobs", { query: { pageSize: 2 } });
    const pageToken = body.nextPageToken;
    await api.call("ListJobs", { query: { pageSize: 1, pageToken } });
    await api.refused("ListJobs", "ValidationError", { query: { pageToken, status: "RUNNING" } });
    await api.refused("ListWorkflows", "ValidationError", { query: { pageToken } });
    await other.api.refused("ListJobs", "ValidationError", { query: { pageToken } });
    for (const bent of [
      `${pageToken}A`,
      pageToken.slice(1),
      pageToken.slice(0, -1),
      `${pageToken}=`,
      "%00",
      "' OR 1=1",
    ]) {
      await api.refused("ListJobs", "ValidationError", { query: { pageToken: bent } });
    }
  });
});
