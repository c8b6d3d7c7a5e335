import type { InitialOwner } from "../../packages/server/src/operator/initial-owner.ts";
import type { RunningService } from "../../packages/server/src/service.ts";
import { Api } from "./api.ts";
import { type JobName, liveADay } from "./day.ts";
import type { MovingClock } from "./moving-clock.ts";
import { join, password, signInFrom } from "./people.ts";
import {
  ledgerSync,
  nightlyReport,
  orderApproval,
  orderFulfilment,
  refund,
  type WorkflowIds,
  type WorkflowName,
} from "./workflows.ts";

/** Paths and links of what the pictures show: an organization in which much has happened, and an empty one. */
export interface Story {
  readonly organization: string;
  readonly emptyOrganization: string;
  readonly workflow: string;
  readonly version: string;
  readonly jobs: Readonly<Record<JobName, string>>;
  readonly token: string;
  readonly invitationLink: string;
  readonly passwordLink: string;
}

export const ownerEmail = "mara.lindqvist@acme.example";
export const operatorEmail = "priya.natarajan@acme.example";

const minuteMs = 60_000;
const firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0";
const telephone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1";

/** Uses the service for a bit more than a day, from the clock's time until now. */
export async function tellStory(service: RunningService, clock: MovingClock, begun: InitialOwner): Promise<Story> {
  const { baseUrl } = service;
  const owner = new Api(baseUrl, begun.token);
  const organization = `/organizations/${begun.organizationId}`;
  const labs = await owner.post("/organizations", { name: "acme-labs", displayName: "Acme Labs" });
  clock.pass(3 * minuteMs);
  await letIn(baseUrl, organization, owner, clock);
  const workflows = await deployAll(owner, organization, clock);
  const { shop, pipeline } = await makeTokens(owner, organization, workflows, clock);
  await signInFrom(baseUrl, telephone, ownerEmail);
  const jobs = await liveADay({ baseUrl, organization, shop: new Api(baseUrl, shop), owner, workflows, clock });
  await signInFrom(baseUrl, firefox, ownerEmail, `${password}!`);
  clock.pass(minuteMs);
  await signInFrom(baseUrl, firefox, ownerEmail);
  clock.catchUp();
  await leaveTasks(owner, organization);
  const workflow = `${organization}/workflows/${workflows["order-fulfilment"]}`;
  return {
    organization,
    emptyOrganization: `/organizations/${labs.organizationId}`,
    workflow,
    version: await firstVersion(owner, workflow),
    jobs,
    token: `${organization}/settings/api-tokens/${pipeline}`,
    ...(await makeLinks(owner, organization)),
  };
}

async function letIn(baseUrl: string, organization: string, owner: Api, clock: MovingClock): Promise<void> {
  const description = "Registers versions, moves tags, and sees the list of jobs.";
  const permissions = ["workflow:read", "workflow:version:read", "workflow:version:create", "job:list"];
  await owner.post(`${organization}/roles`, { name: "releaser", description, permissions });
  const support = ["workflow:read", "job:list", "job:event:send"];
  await owner.post(`${organization}/roles`, {
    name: "approver",
    description: "Sends approvals.",
    permissions: support,
  });
  const newcomers = [
    { email: "jonas.weber@acme.example", displayName: "Jonas Weber", role: "developer" },
    { email: operatorEmail, displayName: "Priya Natarajan", role: "operator" },
    { email: "tom.okafor@acme.example", displayName: "Tom Okafor", role: "releaser" },
  ];
  for (const newcomer of newcomers) {
    await join(baseUrl, organization, owner, newcomer);
    clock.pass(7 * minuteMs);
  }
}

/** Registers each workflow with one or more versions. `$LIVE` points at the last one. If there are several, `staging` points at the first. */
async function deployAll(owner: Api, organization: string, clock: MovingClock): Promise<WorkflowIds> {
  const definitions: Readonly<Record<WorkflowName, readonly string[]>> = {
    "order-approval": [orderApproval],
    "order-fulfilment": [
      orderFulfilment.replace('"maxAttempts": 4', '"maxAttempts": 2'),
      orderFulfilment.replace('"invoice.sent"', '"invoice.posted"'),
      orderFulfilment,
    ],
    "nightly-report": [nightlyReport, nightlyReport.replace("120", "300")],
    "ledger-sync": [ledgerSync],
    refund: [refund],
  };
  const ids: Partial<Record<WorkflowName, string>> = {};
  for (const [name, texts] of Object.entries(definitions) as [WorkflowName, readonly string[]][]) {
    const { workflowId = "" } = await owner.post(`${organization}/workflows`, { name });
    ids[name] = workflowId;
    const workflow = `${organization}/workflows/${workflowId}`;
    for (const [index, definition] of texts.entries()) {
      const { versionId = "" } = await owner.post(`${workflow}/versions`, { definition });
      await owner.put(`${workflow}/tags/%24LIVE`, { versionId });
      if (index === 0 && texts.length > 1) await owner.put(`${workflow}/tags/staging`, { versionId });
      clock.pass(4 * minuteMs);
    }
  }
  return ids as WorkflowIds;
}

async function makeTokens(owner: Api, organization: string, workflows: WorkflowIds, clock: MovingClock) {
  const make = async (name: string, permissions: readonly string[], more: object = {}) => {
    clock.pass(2 * minuteMs);
    return await owner.post(`${organization}/api-tokens`, { name, permissions, ...more });
  };
  const inDays = (days: number) => new Date(Date.now() + days * 1_440 * minuteMs).toISOString();
  const { token: shop = "" } = await make("checkout-service", [
    "job:submit",
    "job:list",
    "job:event:send",
    "job:cancel",
  ]);
  const pipelinePermissions = ["workflow:create", "workflow:version:create", "job:submit", "job:read", "job:list"];
  const { tokenId: pipeline = "" } = await make("github-actions-deploy", pipelinePermissions, {
    expiresAt: inDays(90),
    boundTo: { workflowIds: [workflows["order-fulfilment"]], tags: ["staging"] },
  });
  await make("grafana", ["metrics:read"], { expiresAt: inDays(8) });
  const { tokenId: old } = await make("old-warehouse-script", ["job:read"]);
  await owner.delete(`${organization}/api-tokens/${old}`);
  const redirectUris = ["https://orders.acme.example/", "http://localhost:5173/"];
  await owner.post(`${organization}/oauth-clients`, { name: "Order desk", redirectUris });
  return { shop, pipeline };
}

/** Leaves waiting tasks in three queues: one has a worker, one has none, and one is paused. */
async function leaveTasks(owner: Api, organization: string): Promise<void> {
  const queues = `${organization}/task-queues`;
  for (const queue of ["thumbnails", "thumbnails", "thumbnails", "label-printer", "payouts", "payouts"])
    await owner.post(`${queues}/${queue}/tasks`, { input: { order: 20_411 } });
  await owner.patch(`${queues}/payouts`, { paused: true });
  await owner.post(`${queues}/thumbnails/poll`, { worker: "render-1" });
}

async function firstVersion(owner: Api, workflow: string): Promise<string> {
  const { versionId } = await owner.get(`${workflow}/tags/staging`);
  return `${workflow}/versions/${versionId}`;
}

/** Makes links for people who have not joined yet, or have forgotten their password. */
async function makeLinks(owner: Api, organization: string) {
  const roles = ["viewer"];
  const { invitationId } = await owner.post(`${organization}/invitations`, { roles, email: "intern@acme.example" });
  await owner.delete(`${organization}/invitations/${invitationId}`);
  await owner.post(`${organization}/invitations`, { roles: ["viewer", "approver"], email: "finance@acme.example" });
  const { link: invitationLink = "" } = await owner.post(`${organization}/invitations`, { roles });
  const { members } = (await owner.get(`${organization}/members`)) as unknown as { members: Member[] };
  const forgetful = members.find(({ displayName }) => displayName === "Jonas Weber");
  const { link: passwordLink = "" } = await owner.post(`${organization}/members/${forgetful?.userId}/password-link`);
  return { invitationLink, passwordLink };
}

interface Member {
  readonly userId: string;
  readonly displayName: string;
}
