import type { OperationId } from "@stepwell/testing/api/operation-id.ts";
import { sealAll } from "@stepwell/testing/audit-rows.ts";
import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, forEachStep, noopStep } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { storeSession } from "@stepwell/testing/identities/stored-account.ts";
import { codeOf, untilCodesStay } from "@stepwell/testing/people.ts";
import type { TestService, TestUser } from "@stepwell/testing/service.ts";
import { ids } from "../../../src/http/examples/story.ts";

/** The parts of the service that a step of the story may need. */
export interface Stage {
  readonly service: TestService;
  /** A client that acts as Ada in the organization. */
  readonly api: Client;
  readonly ada: TestUser;
  /** Returns the service's value that corresponds to a value of the examples. */
  real(value: string): string;
  /** Makes a value of the examples stand for another value of the service. */
  replace(value: string, real: string): void;
}

export interface Scene {
  readonly operationId: OperationId;
  /** Who makes the call: Ada unless this is given. */
  readonly caller?: "grace";
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** The fields of the body that no example can contain. */
  readonly body?: (stage: Stage) => object;
  readonly before?: (stage: Stage) => Promise<void>;
}

const workflow = { workflowId: ids.workflow };
const version = { ...workflow, versionId: ids.version };
const tag = { ...workflow, tag: "$LIVE" };
const job = { jobId: ids.job };
const queue = { queue: "packing" };
const task = { taskId: ids.task };
const token = { tokenId: ids.token };
const member = { userId: ids.grace };
const role = { role: "release-manager" };
const invitation = { invitationId: ids.invitation };
const client = { clientId: ids.client };

/** Makes a code from the secret of the authenticator app. */
const code = ({ service, real }: Stage, stepsBefore: number) => ({
  code: codeOf(real("JBSWY3DPEHPK3PXP"), service.running.engine.now() - stepsBefore * 30_000),
});

async function newWaitingJob({ api, real, replace }: Stage): Promise<void> {
  const { jobId } = await submitAndWait(api, real(ids.workflow), { sku: "STEP-2", count: 1 });
  replace(ids.job, jobId);
}

async function newJobWithBranches({ api, replace }: Stage): Promise<void> {
  const each = forEachStep("each-order", { items: "${ input.orders }", step: "pack" }, null);
  const { workflowId } = await deploy(api, definitionOf(each, noopStep("pack", null)), "order-batch");
  const { jobId } = await submitAndWait(api, workflowId, { orders: [{ sku: "STEP-2" }, { sku: "STEP-3" }] });
  replace(ids.job, jobId);
}

async function newTask({ api, replace }: Stage): Promise<void> {
  await api.call("SubmitTask", { params: queue, body: { input: { sku: "STEP-2", count: 1 } } });
  const { body } = await api.call<{ tasks: { taskId: string }[] }>("PollTasks", { params: queue, body: {} });
  replace(ids.task, body.tasks[0]?.taskId ?? "");
}

async function newToken({ api, replace }: Stage): Promise<void> {
  const body = { name: "pipeline", permissions: ["job:submit"] };
  replace(ids.token, (await api.call<{ tokenId: string }>("CreateApiToken", { body })).body.tokenId);
}

async function newInvitation({ api, replace }: Stage): Promise<void> {
  const { body } = await api.call<{ invitationId: string }>("CreateInvitation", { body: { roles: ["viewer"] } });
  replace(ids.invitation, body.invitationId);
}

async function newMember({ service, replace, real }: Stage): Promise<void> {
  const { userId } = await service.newUser();
  await service.addMember(real(ids.organization), userId, ["operator"]);
  replace(ids.grace, userId);
}

async function newSession({ service, ada, replace }: Stage): Promise<void> {
  replace(ids.session, await storeSession(service, ada.userId));
}

async function emptyOrganization({ service, ada, replace }: Stage): Promise<void> {
  replace(ids.organization, (await service.newOrganization(ada)).organizationId);
}

async function sealEntries({ service, real }: Stage): Promise<void> {
  await sealAll(service, real(ids.organization));
}

/** All operations, each once, in an order in which the story can be played. */
export const story: readonly Scene[] = [
  { operationId: "GetLiveness" },
  { operationId: "GetReadiness" },
  { operationId: "GetOpenApiDocument" },
  { operationId: "ListExecutors" },
  { operationId: "ListExpressionFunctions" },
  { operationId: "CreateOrganization" },
  { operationId: "ListOrganizations" },
  { operationId: "GetOrganization" },
  { operationId: "UpdateOrganization" },
  { operationId: "RegisterWorkflow" },
  { operationId: "ValidateWorkflowVersion", params: workflow },
  { operationId: "RegisterWorkflowVersion", params: workflow },
  { operationId: "SetWorkflowVersionTag", params: tag },
  { operationId: "ListWorkflows" },
  { operationId: "GetWorkflow", params: workflow },
  { operationId: "ListWorkflowVersions", params: workflow },
  { operationId: "GetWorkflowVersion", params: version },
  { operationId: "ListTags", params: workflow },
  { operationId: "GetTaggedWorkflowVersion", params: tag },
  { operationId: "ListTagHistory", params: tag },
  { operationId: "SubmitJob" },
  { operationId: "GetJob", params: job, before: newWaitingJob },
  { operationId: "ExplainJob", params: job },
  { operationId: "ListJobs" },
  { operationId: "GetJobState", params: job },
  { operationId: "GetJobStateMetadata", params: job },
  { operationId: "ListJobSteps", params: job },
  { operationId: "SendJobEvent", params: job },
  { operationId: "ListJobEvents", params: job },
  { operationId: "GetJobHistory", params: job, query: { pageSize: 4 } },
  { operationId: "WatchJob", params: job },
  { operationId: "WatchJobs", query: { job: `${ids.organization}/${ids.job}` } },
  { operationId: "CancelJob", params: job, before: newWaitingJob },
  { operationId: "ResumeJob", params: job },
  { operationId: "ListJobBranches", params: job, before: newJobWithBranches },
  { operationId: "SubmitTask", params: queue },
  { operationId: "PollTasks", params: queue },
  { operationId: "HeartbeatTask", params: task },
  { operationId: "ListTaskQueues" },
  { operationId: "GetTaskQueue", params: queue },
  { operationId: "ListTasks", params: queue },
  { operationId: "CompleteTask", params: task },
  { operationId: "FailTask", params: task, before: newTask },
  { operationId: "ReleaseTask", params: task, before: newTask },
  { operationId: "UpdateTaskQueue", params: queue },
  { operationId: "GetMetrics", query: { metric: "jobs_submitted", bucket: "day" } },
  { operationId: "CreateApiToken" },
  { operationId: "CreateApiAuthToken" },
  { operationId: "ListApiTokens" },
  { operationId: "ListApiAuthTokens" },
  { operationId: "GetApiToken", params: token },
  { operationId: "GetApiAuthToken", params: token },
  { operationId: "UpdateApiToken", params: token },
  { operationId: "UpdateApiAuthToken", params: token },
  { operationId: "RotateApiToken", params: token },
  { operationId: "RotateApiAuthToken", params: token },
  { operationId: "RevokeApiToken", params: token },
  { operationId: "RevokeApiAuthToken", params: token, before: newToken },
  { operationId: "GetRateLimits" },
  { operationId: "GetLimits" },
  { operationId: "WhoAmI" },
  { operationId: "CreateRole" },
  { operationId: "ListRoles" },
  { operationId: "GetRole", params: role },
  { operationId: "CreateInvitation" },
  { operationId: "ListInvitations" },
  { operationId: "GetInvitation", params: invitation },
  { operationId: "AcceptInvitation", caller: "grace" },
  { operationId: "RevokeInvitation", params: invitation, before: newInvitation },
  { operationId: "ListMembers" },
  { operationId: "GetMember", params: member },
  { operationId: "UpdateMember", params: member },
  { operationId: "CreatePasswordLink", params: member },
  { operationId: "LeaveOrganization", caller: "grace" },
  { operationId: "RemoveMember", params: member, before: newMember },
  { operationId: "UpdateRole", params: role },
  { operationId: "DeleteRole", params: { role: "release-lead" } },
  { operationId: "CreateOAuthClient" },
  { operationId: "ListOAuthClients" },
  { operationId: "GetOAuthClient", params: client },
  { operationId: "DeleteOAuthClient", params: client },
  { operationId: "ListSignInProviders" },
  { operationId: "GetOwnPermissions" },
  { operationId: "CheckPermissions" },
  { operationId: "ListAudit", query: { pageSize: 2 } },
  { operationId: "ExportAudit", query: { action: "CreateOrganization" } },
  { operationId: "VerifyAudit", before: sealEntries },
  { operationId: "UpdateAccount" },
  { operationId: "CreateUserToken" },
  { operationId: "ListUserTokens" },
  { operationId: "RevokeUserToken", params: { userTokenId: ids.userToken } },
  { operationId: "StartSecondFactor" },
  {
    operationId: "ConfirmSecondFactor",
    body: (stage) => code(stage, 1),
    before: ({ service }) => untilCodesStay(service),
  },
  { operationId: "RenewRecoveryCodes", body: (stage) => code(stage, 0) },
  { operationId: "DisableSecondFactor", body: (stage) => code(stage, -1) },
  { operationId: "ChangePassword" },
  { operationId: "ListSessions", before: newSession },
  { operationId: "EndSession", params: { sessionId: ids.session } },
  { operationId: "GetAccount" },
  { operationId: "GetAccountLimits" },
  { operationId: "ListAccountActivity" },
  { operationId: "DeleteTag", params: tag },
  { operationId: "DeleteWorkflow", params: workflow },
  { operationId: "DeleteOrganization", before: emptyOrganization },
];
