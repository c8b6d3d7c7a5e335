import { randomUUID } from "node:crypto";
import type { CallOptions, Client, ProblemBody } from "@stepwell/testing/client.ts";
import { waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, registerVersion, submitAndWait } from "@stepwell/testing/flow.ts";
import { storeToken } from "@stepwell/testing/identities/stored-token.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { beforeAll, expect, test } from "vitest";
import { grantablePermissions } from "../../../src/auth/permissions/permissions.ts";
import type { ApiToken } from "../../../src/store/access/tokens.ts";
import { buildWorld, type Row, rows, unknownId, type World } from "../authorization/authorization-rows.ts";
import { type BoundsRow, boundsRows, type Expected } from "./token-bounds-rows.ts";

type Bound = Partial<Pick<ApiToken, "workflowIds" | "tags" | "boundJobId" | "boundEventId">>;

/** The part of the authorization matrix for tokens with bounds: the bounds apply whatever permissions the token has. */
onOneStore((home) => {
  const service = useService(home);
  let world: World;
  /** Another workflow of the same organization, with a job. */
  let elsewhere: { readonly workflowId: string; readonly jobId: string };
  /** The workflow of the world's finished job. */
  let finishedWorkflowId: string;

  beforeAll(async () => {
    world = await buildWorld(service);
    const { api } = world.organization;
    const { workflowId } = await deploy(api, waitingDefinition);
    elsewhere = { workflowId, jobId: (await submitAndWait(api, workflowId)).jobId };
    const finished = await api.call<{ workflowId: string }>("GetJob", { params: { jobId: world.ids.finishedJobId } });
    finishedWorkflowId = finished.body.workflowId;
  }, 60_000);

  /** The token is written into the store, since the API would reject some of these bounds. Even such a bound must apply. */
  async function narrowToken(bound: Bound): Promise<Client> {
    const { organizationId } = world.ids;
    const { token } = await storeToken(service, organizationId, { permissions: grantablePermissions, ...bound });
    return world.organization.api.as(token);
  }

  const boundTo: Readonly<Record<keyof BoundsRow, (ids: World["ids"]) => { inside: Bound; outside: Bound }>> = {
    workflows: ({ workflowId }) => ({
      inside: { workflowIds: [workflowId, finishedWorkflowId] },
      outside: { workflowIds: [elsewhere.workflowId] },
    }),
    tags: ({ tag }) => ({ inside: { tags: [tag] }, outside: { tags: ["elsewhere"] } }),
    jobEvent: ({ jobId }) => ({
      inside: { boundJobId: jobId, boundEventId: "other" },
      outside: { boundJobId: elsewhere.jobId, boundEventId: "other" },
    }),
  };

  async function expectCell(operationId: string, kind: keyof BoundsRow, side: "inside" | "outside"): Promise<void> {
    const row = rows[operationId] as Row;
    const expected = boundsRows[operationId]?.[kind][side === "inside" ? 0 : 1] as Expected;
    const cell = `a token bound by ${kind} calls ${operationId} ${side}`;
    const fresh = expected === "allowed" ? await row.fresh?.(world, service) : undefined;
    const ids = { ...world.ids, ...fresh };
    const client = await narrowToken(boundTo[kind](ids)[side]);
    const { status, body } = await client.callAny<ProblemBody>(operationId, row.call(ids));
    if (expected === "allowed") {
      expect(status, cell).toBe(row.allowed);
    } else if (expected === "unknown") {
      expect(status, cell).toBe(404);
      const unknown = Object.fromEntries(Object.keys(ids).map((name) => [name, unknownId])) as World["ids"];
      const nobodys = await client.callAny<ProblemBody>(operationId, row.call({ ...unknown, tag: "$LIVE" }));
      expect({ ...body, requestId: "" }, cell).toEqual({ ...nobodys.body, requestId: "" });
    } else {
      expect(status, cell).toBe(403);
      const { permission } = (await client.document()).operation(operationId);
      expect(body.detail, cell).toContain(expected === "personal" ? permission : "This token is bound to");
    }
  }

  test("every operation with a credential has its row, and every row its operation", async () => {
    const { operations } = await world.organization.api.document();
    const asking = operations.filter(({ permission }) => permission !== "none").map(({ operationId }) => operationId);
    expect(Object.keys(boundsRows).sort()).toEqual(asking.sort());
  });

  test.each(Object.keys(boundsRows))("%s limits narrow tokens to their bounds", async (operationId) => {
    for (const kind of ["workflows", "tags", "jobEvent"] as const) {
      await expectCell(operationId, kind, "inside");
      await expectCell(operationId, kind, "outside");
    }
  });

  test("lists contain and count only resources within the bound", async () => {
    const { api, organizationId } = await service.newOrganization();
    const [one, other] = [await deploy(api, waitingDefinition), await deploy(api, waitingDefinition)];
    for (const { workflowId } of [one, one, other]) await submitAndWait(api, workflowId);
    const values = { permissions: grantablePermissions, workflowIds: [one.workflowId] };
    const narrow = api.as((await storeToken(service, organizationId, values)).token);

    const { workflowId } = one;
    const workflows = await narrow.call("ListWorkflows");
    expect(workflows.body).toMatchObject({ workflows: [{ workflowId }] });
    const jobs = await narrow.call("ListJobs", { query: { includeTotal: true } });
    expect(jobs.body).toMatchObject({ jobs: [{ workflowId }, { workflowId }], totalCount: 2 });
    const first = await narrow.call<{ nextPageToken: string }>("ListJobs", { query: { pageSize: 1 } });
    const query = { pageSize: 1, pageToken: first.body.nextPageToken };
    expect((await narrow.call("ListJobs", { query })).body).not.toHaveProperty("nextPageToken");
    const beyond = { workflowId: other.workflowId, includeTotal: true };
    expect((await narrow.call("ListJobs", { query: beyond })).body).toEqual({ jobs: [], totalCount: 0 });
    const byVersion = await narrow.call("ListJobs", { query: { versionId: other.versionId } });
    expect(byVersion.body).toEqual({ jobs: [] });

    for (const metric of ["jobs_waiting", "jobs_submitted"]) {
      const measured = async (client: Client, filter: object) => {
        const { body } = await client.call<{ points: { value: number }[] }>("GetMetrics", {
          query: { metric, ...filter },
        });
        return body.points.reduce((sum, { value }) => sum + value, 0);
      };
      expect(await measured(api, {}), metric).toBe(3);
      expect(await measured(narrow, {}), metric).toBe(2);
      expect(await measured(narrow, { workflowId }), metric).toBe(2);
      expect(await measured(narrow, { workflowId: workflowId.toUpperCase() }), metric).toBe(2);
      expect(await measured(narrow, { workflowId: other.workflowId }), metric).toBe(0);
    }
  });

  test.each([
    "jobs_succeeded",
    "jobs_failed",
    "step_failures",
    "step_retries",
    "job_duration_seconds",
    "step_duration_seconds",
  ])("the metric %s covers only the workflows of the bound", async (metric) => {
    const measured = async (client: Client) => (await client.call("GetMetrics", { query: { metric } })).body.points;
    const { api } = world.organization;
    const all = await narrowToken({ workflowIds: [world.ids.workflowId, finishedWorkflowId, elsewhere.workflowId] });
    expect(await measured(all)).toEqual(await measured(api));
    const none = await narrowToken({ workflowIds: [elsewhere.workflowId] });
    const points = (await measured(none)) as { value: number | null }[];
    expect(points.some(({ value }) => value !== null && value !== 0)).toBe(false);
  });

  test("a token bound to tags can submit only by those tags, and gets an error that says so", async () => {
    const { api } = world.organization;
    const { workflowId, versionId } = await registerVersion(api, world.ids.workflowId, waitingDefinition);
    await api.call("SetWorkflowVersionTag", { params: { workflowId, tag: "staging" }, body: { versionId } });
    const narrow = await narrowToken({ tags: ["staging", "qa"] });
    const submit = (workflowVersion?: object): CallOptions => ({
      body: { workflowId, ...(workflowVersion && { workflowVersion }) },
    });
    for (const choice of [undefined, { tag: "$LIVE" }, { versionId }, { versionNumber: 1 }]) {
      const { body } = await narrow.refused("SubmitJob", "AuthorizationError", submit(choice));
      expect(body.detail).toContain("bound to the tags staging, qa");
    }
    const { body } = await narrow.call<{ jobId: string }>("SubmitJob", submit({ tag: "staging" }));
    await narrow.call("CancelJob", { params: { jobId: body.jobId } });
    const { body: byId } = await api.call<{ jobId: string }>("SubmitJob", submit({ versionId }));
    await narrow.call("GetJob", { params: { jobId: byId.jobId } });
    await narrow.refused("CancelJob", "AuthorizationError", { params: { jobId: byId.jobId } });
  });

  test("a token bound to workflows and to tags must satisfy both", async () => {
    const { workflowId } = world.ids;
    const narrow = await narrowToken({ workflowIds: [workflowId], tags: ["$LIVE"] });
    await narrow.call("SubmitJob", { body: { workflowId } });
    const byNumber = { workflowId, workflowVersion: { versionNumber: 1 } };
    await narrow.refused("SubmitJob", "AuthorizationError", { body: byNumber });
    await narrow.refused("SubmitJob", "NotFoundError", { body: { workflowId: elsewhere.workflowId } });
    await narrow.refused("RegisterWorkflow", "AuthorizationError", { body: { name: randomUUID() } });
  });

  test("a token bound to one event of one job can send that event, and no other", async () => {
    const { api } = world.organization;
    const { jobId } = await submitAndWait(api, world.ids.workflowId);
    const body = {
      name: "mail",
      permissions: ["job:event:send"],
      boundTo: { jobEvent: { jobId: jobId.toUpperCase(), eventId: "approved" } },
    };
    const created = await api.call<{ token: string; boundTo: object }>("CreateApiToken", { body });
    expect(created.body.boundTo).toEqual({ jobEvent: { jobId, eventId: "approved" } });
    const mail = api.as(created.body.token);
    const params = { jobId };
    const refused = await mail.refused("SendJobEvent", "AuthorizationError", { params, body: { eventId: "rejected" } });
    expect(refused.body.detail).toContain('bound to the event "approved" of one job');
    await mail.refused("SendJobEvent", "NotFoundError", { params: world.ids, body: { eventId: "approved" } });
    await mail.refused("GetJob", "AuthorizationError", { params });
    const sent = await mail.call("SendJobEvent", { params, body: { eventId: "approved" } });
    expect(sent.body.outcome).toBe("matched");
  });

  test("a stream ends when its token is bound to other workflows", async () => {
    const { organizationId, workflowId, jobId } = world.ids;
    const values = { permissions: ["job:read"], workflowIds: [workflowId] };
    const { token, tokenId } = await storeToken(service, organizationId, values);
    const url = `${service.baseUrl}/organizations/${organizationId}/jobs/${jobId}/stream`;
    const stream = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const reader = stream.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    const body = { boundTo: { workflowIds: [elsewhere.workflowId] } };
    await world.organization.api.call("UpdateApiToken", { params: { tokenId }, body });
    const changedAt = performance.now();
    while ((await reader?.read())?.done === false);
    expect(performance.now() - changedAt).toBeLessThan(timeLimit(3_000));
  });
});
