import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, straightDefinition, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, registerVersion, submitAndWait } from "@stepwell/testing/flow.ts";
import { storeActivity, storeSession, storeUserToken } from "@stepwell/testing/identities/stored-account.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { builtInRoles } from "../../../src/auth/permissions/permissions.ts";
import { isName } from "../../../src/http/door/schemas.ts";
import { insertWorkflow } from "../../../src/store/workflows/workflows.ts";

interface ListOf {
  readonly operation: string;
  /** The field that holds the rows, and the field that identifies a row. */
  readonly rows: string;
  readonly identity: string;
  readonly params?: Record<string, string>;
}

interface Case extends ListOf {
  /** The number of rows that a client without paging gets: all of a short list, and the first 25 of a list that grows. */
  readonly unpaged: 25 | 26;
}

const rowCount = 26;
const workflowsByName = { operation: "ListWorkflows", rows: "workflows", identity: "name" };

onOneStore((home) => {
  const service = useService(home, { STEPWELL_MAX_ORGANIZATIONS_PER_ACCOUNT: "100" });

  /** Makes an organization in which every list has 26 rows: one more than a page of a list that grows. */
  async function populate(): Promise<{ api: Client; cases: Case[] }> {
    const organization = await service.newOrganization();
    const { api, owner } = organization;
    const first = await deploy(api, definitionOf(waitStep("w", ["x"], null)));
    const { workflowId, versionId } = first;
    for (let index = 1; index < rowCount; index += 1) {
      await service.newOrganization(owner);
      await service.newMember(organization, ["viewer"]);
      await storeUserToken(service, owner.userId, `u${index}`);
      await storeActivity(service, owner.userId);
      await api.call("RegisterWorkflow", { body: { name: `w${index}` } });
      await registerVersion(api, workflowId, straightDefinition);
      await api.call("SetWorkflowVersionTag", { params: { workflowId, tag: `t${index}` }, body: { versionId } });
      await api.call("SetWorkflowVersionTag", { params: { workflowId, tag: "$LIVE" }, body: { versionId } });
    }
    const { jobId } = await submitAndWait(api, workflowId);
    for (let index = 0; index < rowCount; index += 1) {
      if (index > 0) await submitAndWait(api, workflowId);
      // The organization already has the built-in roles.
      if (index >= builtInRoles.size) {
        await api.call("CreateRole", { body: { name: `r${index}`, permissions: ["job:read"] } });
      }
      await api.call("SendJobEvent", { params: { jobId }, body: { eventId: `other ${index}` } });
      await api.call("CreateApiToken", { body: { name: `t${index}`, permissions: ["job:read"] } });
      await api.call("CreateInvitation", { body: { roles: ["viewer"] } });
      await api.call("CreateOAuthClient", { body: { name: `c${index}`, redirectUris: ["https://app.example.org/"] } });
      await api.call("UpdateTaskQueue", { params: { queue: `q${index}` }, body: { paused: true } });
      await storeSession(service, owner.userId);
    }
    await storeActivity(service, owner.userId);
    const cases: Case[] = [
      { operation: "ListOrganizations", rows: "organizations", identity: "organizationId", unpaged: 26 },
      { operation: "ListWorkflows", rows: "workflows", identity: "workflowId", unpaged: 26 },
      {
        operation: "ListWorkflowVersions",
        rows: "versions",
        identity: "versionId",
        params: { workflowId },
        unpaged: 26,
      },
      { operation: "ListTags", rows: "tags", identity: "tag", params: { workflowId }, unpaged: 26 },
      {
        operation: "ListTagHistory",
        rows: "changes",
        identity: "changedAt",
        params: { workflowId, tag: "$LIVE" },
        unpaged: 26,
      },
      { operation: "ListJobs", rows: "jobs", identity: "jobId", unpaged: 25 },
      { operation: "ListJobEvents", rows: "events", identity: "eventId", params: { jobId }, unpaged: 25 },
      { operation: "ListApiTokens", rows: "apiTokens", identity: "tokenId", unpaged: 26 },
      { operation: "ListApiAuthTokens", rows: "apiTokens", identity: "apiAuthTokenId", unpaged: 26 },
      { operation: "ListMembers", rows: "members", identity: "userId", unpaged: 26 },
      { operation: "ListRoles", rows: "roles", identity: "name", unpaged: 26 },
      { operation: "ListInvitations", rows: "invitations", identity: "invitationId", unpaged: 26 },
      { operation: "ListOAuthClients", rows: "oauthClients", identity: "clientId", unpaged: 26 },
      { operation: "ListTaskQueues", rows: "queues", identity: "queue", unpaged: 25 },
      { operation: "ListUserTokens", rows: "userTokens", identity: "tokenId", unpaged: 26 },
      { operation: "ListSessions", rows: "sessions", identity: "sessionId", unpaged: 26 },
      { operation: "ListAccountActivity", rows: "activities", identity: "activityId", unpaged: 25 },
    ];
    return { api, cases };
  }

  async function storeWorkflows(organizationId: string, names: readonly string[]): Promise<void> {
    const { engine, database } = service.running;
    const createdBy = { type: "service", id: "test" } as const;
    await database.transaction(async (transaction) => {
      for (const name of names) {
        const workflow = { organizationId, workflowId: engine.newId(), name, createdBy, createdAt: engine.now() };
        expect(await insertWorkflow(transaction, workflow)).toBe(true);
      }
    });
  }

  /** Reads all pages. Without a page size, the list decides how long its pages are. */
  async function readPages(api: Client, { operation, rows, identity, params = {} }: ListOf, pageSize?: number) {
    const pages: unknown[][] = [];
    const size = pageSize === undefined ? {} : { pageSize };
    let query: Record<string, string | number> = size;
    for (;;) {
      const { body } = await api.call<Record<string, unknown>>(operation, { params, query });
      pages.push((body[rows] as Record<string, unknown>[]).map((row) => row[identity]));
      if (body.nextPageToken === undefined) return pages;
      query = { ...size, pageToken: String(body.nextPageToken) };
    }
  }

  const sizes = (pages: readonly unknown[][]) => pages.map((page) => page.length);

  test("every list can be read completely in pages, in the same order as at once, and the test covers every list", async () => {
    const { api, cases } = await populate();
    for (const listCase of cases) {
      const { operation, unpaged } = listCase;
      const [whole = []] = await readPages(api, listCase, 200);
      const pages = await readPages(api, listCase, 10);
      expect(whole, operation).toHaveLength(rowCount);
      expect(pages.flat(), operation).toEqual(whole);
      expect(sizes(pages), operation).toEqual([10, 10, 6]);
      const withoutSize = await readPages(api, listCase);
      expect(withoutSize.flat(), operation).toEqual(whole);
      expect(sizes(withoutSize), operation).toEqual(unpaged === 25 ? [25, 1] : [26]);
    }
    const { operations } = await api.document();
    const paged = operations.filter(({ declaration }) =>
      declaration.parameters?.some(({ name }) => name === "pageToken"),
    );
    // The lists that are not in `cases` have tests of their own: the history, the steps and the branches of a job, the audit trail, the tasks of a
    // queue, and the sign-in providers of the operator's file (jobs.test.ts, job-steps.test.ts, branches.test.ts, audit.test.ts, tasks.test.ts,
    // sign-in-providers.test.ts).
    const tried = [
      ...cases.map(({ operation }) => operation),
      "GetJobHistory",
      "ListJobSteps",
      "ListJobBranches",
      "ListAudit",
      "ListTasks",
      "ListSignInProviders",
    ];
    expect(paged.map(({ operationId }) => operationId).sort()).toEqual(tried.sort());
  }, 60_000);

  test("one answer has up to 1,000 rows of a list, and says if there are more", async () => {
    const { api, organizationId } = await service.newOrganization();
    await storeWorkflows(
      organizationId,
      Array.from({ length: 1_001 }, (_, index) => `w${String(index).padStart(4, "0")}`),
    );
    const pages = await readPages(api, workflowsByName);
    expect(sizes(pages)).toEqual([1_000, 1]);
    expect(pages.flat().at(-1)).toBe("w1000");
    expect((await readPages(api, workflowsByName, 200)).flat()).toEqual(pages.flat());
  });

  test("workflows are listed by name, byte by byte, and the pages together are the whole list, whatever their size", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(
          fc.oneof(fc.string({ minLength: 1, maxLength: 8 }), fc.string({ unit: "grapheme", maxLength: 8 })),
          {
            maxLength: 40,
          },
        ),
        fc.integer({ min: 1, max: 12 }),
        async (texts, pageSize) => {
          const names = texts.filter((text) => isName(text, 256));
          const { api, organizationId } = await service.newOrganization();
          await storeWorkflows(organizationId, names);
          const whole = (await readPages(api, workflowsByName)).flat();
          expect(whole).toEqual(names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
          expect((await readPages(api, workflowsByName, pageSize)).flat()).toEqual(whole);
        },
      ),
      { numRuns: 20 },
    );
  });

  test("an invented page token with an unstorable character is 400", async () => {
    const { api } = await service.newOrganization();
    const { workflowId, versionId } = await deploy(api, straightDefinition);
    for (const name of ["first", "last"]) {
      await api.call("UpdateTaskQueue", { params: { queue: name }, body: { paused: true } });
      await api.call("SetWorkflowVersionTag", { params: { workflowId, tag: name }, body: { versionId } });
    }
    const lists: readonly (readonly [string, string, Record<string, string>])[] = [
      ["ListTaskQueues", "first", {}],
      ["ListTags", "$LIVE", { workflowId }],
    ];
    for (const [operation, key, params] of lists) {
      const { body } = await api.call<{ nextPageToken: string }>(operation, { params, query: { pageSize: 1 } });
      const text = Buffer.from(body.nextPageToken, "base64url").toString();
      expect(text.endsWith(key), operation).toBe(true);
      const madeUp = (name: string) => Buffer.from(text.slice(0, -key.length) + name).toString("base64url");
      await api.call(operation, { params, query: { pageSize: 1, pageToken: madeUp("g") } });
      await api.refused(operation, "ValidationError", { params, query: { pageSize: 1, pageToken: madeUp("g\0") } });
    }
  });

  test("a page token of another list, another organization or other filters, or with a changed character, is 400", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, straightDefinition);
    for (let index = 0; index < 5; index += 1) await submitAndWait(api, workflowId);
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
