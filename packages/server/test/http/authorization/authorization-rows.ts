import { randomUUID } from "node:crypto";
import { withAliases } from "@stepwell/testing/aliases.ts";
import type { OperationId } from "@stepwell/testing/api/operation-id.ts";
import type { CallOptions } from "@stepwell/testing/client.ts";
import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import type { TestOrganization, TestService } from "@stepwell/testing/service.ts";
import type { Permission, PermissionSet } from "../../../src/auth/permissions/permissions.ts";
import { type PolledTask, taskDefinition } from "../tasks/tasks.ts";

/** One organization with one of everything. */
export interface World {
  readonly organization: TestOrganization;
  readonly ids: Readonly<Record<Name, string>>;
}

type Name =
  | "organizationId"
  | "workflowId"
  | "versionId"
  | "jobId"
  | "finishedJobId"
  | "tokenId"
  | "tag"
  | "userId"
  | "role"
  | "invitationId"
  | "clientId"
  | "taskWorkflowId"
  | "queue"
  | "taskId"
  | "code";

export interface Row {
  /** Makes a valid call on the things in this world. */
  readonly call: (ids: World["ids"]) => CallOptions;
  /** The status of the answer to a caller who has the permission. */
  readonly allowed: number | ((caller: MatrixCaller) => number);
  /** Makes a new thing for each call. Only for an action that uses up or changes the thing on which it acts. */
  readonly fresh?: (world: World, service: TestService) => Promise<Partial<World["ids"]>>;
  /** Restores the world after a call that was allowed. */
  readonly restore?: (world: World, service: TestService, caller: MatrixCaller) => Promise<void>;
  /** `nothing` if neither the path nor the body takes from `ids` anything that must exist in the organization. */
  readonly names?: "nothing";
}

export interface MatrixCaller {
  readonly name: string;
  /**
   * The kind of caller. The code tells callers apart by their kind and their permissions. `stranger`: a caller without a valid credential; `user`: a
   * member of no organization.
   */
  readonly kind:
    | "stranger"
    | "token"
    | "bound token"
    | "owner"
    | "user"
    | "built-in role"
    | "own role"
    | "several roles"
    | "session"
    | "outsider";
  readonly token: string | undefined;
  /** The permission that this token tests: it holds either only this permission or all others. `everything` for a token that holds all. */
  readonly madeFor?: string;
  /** The id of the user, for callers who are users. */
  readonly userId?: string;
  /** The roles of the user, for callers who are users. */
  readonly roles?: readonly string[];
  /** The permissions in the world's own organization; undefined for a stranger. */
  readonly may: PermissionSet | undefined;
  /** The permissions outside of any organization, if they differ. */
  readonly mayOutside?: PermissionSet;
}

const names = { name: "n", displayName: "n" };
export const unknownId = "00000000-0000-7000-8000-000000000000";

const passwords = { currentPassword: "p", newPassword: "a long enough password" };

const workflow = ({ workflowId }: World["ids"]) => ({ params: { workflowId } });
const tag = ({ workflowId, tag: name }: World["ids"]) => ({ params: { workflowId, tag: name } });
const job = ({ jobId }: World["ids"]) => ({ params: { jobId } });
const task = ({ taskId }: World["ids"]) => ({ params: { taskId } });
const queue = ({ queue: name }: World["ids"]) => ({ params: { queue: name } });
const token = ({ tokenId }: World["ids"]) => ({ params: { tokenId } });
const member = ({ userId }: World["ids"]) => ({ params: { userId } });
const role = ({ role: name }: World["ids"]) => ({ params: { role: name } });
const invitation = ({ invitationId }: World["ids"]) => ({ params: { invitationId } });
const oauthClient = ({ clientId }: World["ids"]) => ({ params: { clientId } });
const newOAuthClient = { name: "c", redirectUris: ["https://app.example.org/signed-in"] };

/** Roles with one permission each. A caller who has only the permission of one of these roles may give or take this role. */
const modestRoles = { modest: "member:update", removable: "member:remove", inviting: "invitation:create" };

async function freshWorkflow({ organization: { api } }: World): Promise<Partial<World["ids"]>> {
  return (await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: randomUUID() } })).body;
}

async function freshTag({ organization: { api }, ids }: World): Promise<Partial<World["ids"]>> {
  const params = { workflowId: ids.workflowId, tag: randomUUID() };
  await api.call("SetWorkflowVersionTag", { params, body: { versionId: ids.versionId } });
  return { tag: params.tag };
}

/** `permission` must be the one that the tested action on the token needs, since a caller must have all that the token has. */
function freshTokenWith(permission: Permission) {
  return async ({ organization: { api } }: World): Promise<Partial<World["ids"]>> => {
    const body = { name: "t", permissions: [permission] };
    return (await api.call<{ tokenId: string }>("CreateApiToken", { body })).body;
  };
}

async function freshRole({ organization: { api } }: World, permissions: readonly string[]): Promise<string> {
  const name = `role-${randomUUID()}`;
  await api.call("CreateRole", { body: { name, permissions } });
  return name;
}

/** Makes a member who may only remove members, so that every caller with this permission also holds everything that the member holds. */
async function freshMember(world: World, service: TestService): Promise<Partial<World["ids"]>> {
  const { userId } = await service.newMember(world.organization, ["removable"]);
  return { userId };
}

async function freshInvitation({ organization: { api } }: World): Promise<Partial<World["ids"]>> {
  const body = { roles: ["viewer"] };
  return (await api.call<{ invitationId: string; code: string }>("CreateInvitation", { body })).body;
}

async function freshOAuthClient({ organization: { api } }: World): Promise<Partial<World["ids"]>> {
  return (await api.call<{ clientId: string }>("CreateOAuthClient", { body: newOAuthClient })).body;
}

async function freshWaitingJob({ organization: { api }, ids }: World): Promise<Partial<World["ids"]>> {
  const { jobId } = await submitAndWait(api, ids.workflowId);
  return { jobId };
}

/** A task in a queue of its own. The owner holds the task. */
export async function freshTask({ organization: { api }, ids }: World): Promise<Partial<World["ids"]>> {
  const name = `queue-${randomUUID()}`;
  await api.call("SubmitJob", { body: { workflowId: ids.taskWorkflowId, inputJson: { queue: name } } });
  const { body } = await api.call<{ tasks: PolledTask[] }>("PollTasks", { params: { queue: name }, body: {} });
  return { queue: name, taskId: body.tasks[0]?.taskId ?? "" };
}

/** Names a queue that is not paused, so that pausing it is a change. */
async function freshQueue(): Promise<Partial<World["ids"]>> {
  return { queue: `queue-${randomUUID()}` };
}

async function freshCancelledJob(world: World): Promise<Partial<World["ids"]>> {
  const { jobId = "" } = await freshWaitingJob(world);
  await world.organization.api.call("CancelJob", { params: { jobId } });
  return { jobId };
}

/** A row for each operation that checks who is calling. If an operation has no row, this does not compile. */
const ownRows: Readonly<Record<Exclude<OperationId, PublicOperation | Alias>, Row>> = {
  CreateOrganization: { call: () => ({ body: names }), allowed: 201, names: "nothing" },
  ListOrganizations: { call: () => ({}), allowed: 200, names: "nothing" },
  GetOrganization: { call: () => ({}), allowed: 200, names: "nothing" },
  UpdateOrganization: { call: () => ({ body: names }), allowed: 200, names: "nothing" },
  // The world has a waiting job, so the organization cannot be deleted.
  DeleteOrganization: { call: () => ({}), allowed: 409, names: "nothing" },
  RegisterWorkflow: { call: () => ({ body: { name: randomUUID() } }), allowed: 201, names: "nothing" },
  ListWorkflows: { call: () => ({}), allowed: 200, names: "nothing" },
  GetWorkflow: { call: workflow, allowed: 200 },
  DeleteWorkflow: { call: workflow, allowed: 204, fresh: freshWorkflow },
  RegisterWorkflowVersion: {
    call: (ids) => ({ ...workflow(ids), body: { definition: straightDefinition } }),
    allowed: 201,
  },
  ValidateWorkflowVersion: {
    call: (ids) => ({ ...workflow(ids), body: { definition: straightDefinition } }),
    allowed: 200,
  },
  ListWorkflowVersions: { call: workflow, allowed: 200 },
  GetWorkflowVersion: { call: ({ workflowId, versionId }) => ({ params: { workflowId, versionId } }), allowed: 200 },
  SetWorkflowVersionTag: { call: (ids) => ({ ...tag(ids), body: { versionId: ids.versionId } }), allowed: 200 },
  GetTaggedWorkflowVersion: { call: tag, allowed: 200 },
  ListTags: { call: workflow, allowed: 200 },
  DeleteTag: { call: tag, allowed: 204, fresh: freshTag },
  ListTagHistory: { call: tag, allowed: 200 },
  SubmitJob: { call: ({ workflowId }) => ({ body: { workflowId } }), allowed: 201 },
  GetJob: { call: job, allowed: 200 },
  ListJobs: { call: () => ({}), allowed: 200, names: "nothing" },
  ExplainJob: { call: job, allowed: 200 },
  GetJobState: { call: job, allowed: 200 },
  GetJobStateMetadata: { call: job, allowed: 200 },
  GetJobHistory: { call: job, allowed: 200 },
  ListJobSteps: { call: job, allowed: 200 },
  ListJobBranches: { call: job, allowed: 200 },
  WatchJob: { call: ({ finishedJobId }) => ({ params: { jobId: finishedJobId } }), allowed: 200 },
  WatchJobs: {
    call: ({ organizationId, finishedJobId }) => ({ query: { job: `${organizationId}/${finishedJobId}` } }),
    allowed: 200,
    names: "nothing",
  },
  SendJobEvent: {
    call: (ids) => ({ ...job(ids), body: { eventId: "other" } }),
    allowed: 200,
    fresh: freshWaitingJob,
  },
  ListJobEvents: { call: job, allowed: 200 },
  // No worker takes tasks from this queue.
  SubmitTask: { call: () => ({ params: { queue: "submitted" }, body: {} }), allowed: 201, names: "nothing" },
  PollTasks: { call: (ids) => ({ ...queue(ids), body: {} }), allowed: 200, names: "nothing" },
  CompleteTask: { call: (ids) => ({ ...task(ids), body: { output: {} } }), allowed: 200, fresh: freshTask },
  FailTask: { call: (ids) => ({ ...task(ids), body: { message: "m" } }), allowed: 200, fresh: freshTask },
  ReleaseTask: { call: (ids) => ({ ...task(ids), body: {} }), allowed: 200, fresh: freshTask },
  HeartbeatTask: { call: (ids) => ({ ...task(ids), body: {} }), allowed: 200, fresh: freshTask },
  ListTaskQueues: { call: () => ({}), allowed: 200, names: "nothing" },
  GetTaskQueue: { call: queue, allowed: 200, names: "nothing" },
  ListTasks: { call: queue, allowed: 200, names: "nothing" },
  UpdateTaskQueue: {
    call: (ids) => ({ ...queue(ids), body: { paused: true } }),
    allowed: 200,
    fresh: freshQueue,
    names: "nothing",
  },
  CancelJob: { call: job, allowed: 200, fresh: freshCancelledJob },
  ResumeJob: { call: job, allowed: 200, fresh: freshCancelledJob },
  GetMetrics: { call: () => ({ query: { metric: "jobs_running" } }), allowed: 200, names: "nothing" },
  CreateApiToken: {
    call: () => ({ body: { name: "t", permissions: ["apitoken:create"] } }),
    allowed: 201,
    names: "nothing",
  },
  GetRateLimits: { call: () => ({}), allowed: 200, names: "nothing" },
  GetLimits: { call: () => ({}), allowed: 200, names: "nothing" },
  ListApiTokens: { call: () => ({}), allowed: 200, names: "nothing" },
  GetApiToken: { call: token, allowed: 200 },
  UpdateApiToken: {
    call: (ids) => ({ ...token(ids), body: { name: "u" } }),
    allowed: 200,
    fresh: freshTokenWith("apitoken:update"),
  },
  RotateApiToken: { call: token, allowed: 200, fresh: freshTokenWith("apitoken:update") },
  RevokeApiToken: { call: token, allowed: 204, fresh: freshTokenWith("apitoken:revoke") },
  WhoAmI: { call: () => ({}), allowed: 200, names: "nothing" },
  ListMembers: { call: () => ({}), allowed: 200, names: "nothing" },
  GetMember: { call: member, allowed: 200 },
  UpdateMember: { call: (ids) => ({ ...member(ids), body: { roles: ["modest"] } }), allowed: 200 },
  RemoveMember: { call: member, allowed: 204, fresh: freshMember },
  LeaveOrganization: {
    call: () => ({}),
    allowed: ({ roles }) => (roles === undefined ? 403 : roles.includes("owner") ? 409 : 204),
    restore: rejoin,
    names: "nothing",
  },
  CreatePasswordLink: { call: member, allowed: ({ userId }) => (userId === undefined ? 403 : 201) },
  // The callers of the matrix have no password. So 409 is the answer of those operations below that ask for the password.
  GetAccount: { call: () => ({}), allowed: 200, names: "nothing" },
  GetAccountLimits: { call: () => ({}), allowed: 200, names: "nothing" },
  UpdateAccount: { call: () => ({ body: { displayName: "d" } }), allowed: 200, names: "nothing" },
  ListAccountActivity: { call: () => ({}), allowed: 200, names: "nothing" },
  ChangePassword: { call: () => ({ body: passwords }), allowed: 409, names: "nothing" },
  StartSecondFactor: { call: () => ({ body: { password: "p" } }), allowed: 409, names: "nothing" },
  ConfirmSecondFactor: { call: () => ({ body: { code: "123456" } }), allowed: 409, names: "nothing" },
  DisableSecondFactor: { call: () => ({ body: { password: "p", code: "123456" } }), allowed: 409, names: "nothing" },
  RenewRecoveryCodes: { call: () => ({ body: { password: "p", code: "123456" } }), allowed: 409, names: "nothing" },
  CreateUserToken: { call: () => ({ body: { name: "t", password: "p" } }), allowed: 409, names: "nothing" },
  ListUserTokens: { call: () => ({}), allowed: 200, names: "nothing" },
  RevokeUserToken: { call: () => ({ params: { userTokenId: unknownId } }), allowed: 404, names: "nothing" },
  ListSessions: { call: () => ({}), allowed: 200, names: "nothing" },
  EndSession: { call: () => ({ params: { sessionId: unknownId } }), allowed: 404, names: "nothing" },
  CreateRole: {
    call: () => ({ body: { name: `role-${randomUUID()}`, permissions: ["role:create"] } }),
    allowed: 201,
    names: "nothing",
  },
  ListRoles: { call: () => ({}), allowed: 200, names: "nothing" },
  GetRole: { call: role, allowed: 200 },
  UpdateRole: {
    call: (ids) => ({ ...role(ids), body: { description: "d" } }),
    allowed: 200,
    fresh: async (world) => ({ role: await freshRole(world, ["role:update"]) }),
  },
  DeleteRole: {
    call: role,
    allowed: 204,
    fresh: async (world) => ({ role: await freshRole(world, ["role:delete"]) }),
  },
  CreateInvitation: { call: () => ({ body: { roles: ["inviting"] } }), allowed: 201, names: "nothing" },
  ListInvitations: { call: () => ({}), allowed: 200, names: "nothing" },
  GetInvitation: { call: invitation, allowed: 200 },
  RevokeInvitation: { call: invitation, allowed: 204, fresh: freshInvitation },
  // The invitation is to another organization, since most callers are already members of this one.
  AcceptInvitation: {
    call: ({ code }) => ({ body: { invitation: code } }),
    allowed: 200,
    fresh: async (_world, service) => await freshInvitation(await newcomersWorld(service)),
  },
  CreateOAuthClient: { call: () => ({ body: newOAuthClient }), allowed: 201, names: "nothing" },
  ListOAuthClients: { call: () => ({}), allowed: 200, names: "nothing" },
  GetOAuthClient: { call: oauthClient, allowed: 200 },
  DeleteOAuthClient: { call: oauthClient, allowed: 204, fresh: freshOAuthClient },
  ListSignInProviders: { call: () => ({}), allowed: 200, names: "nothing" },
  GetOwnPermissions: { call: () => ({}), allowed: 200, names: "nothing" },
  CheckPermissions: { call: () => ({ body: { permissions: ["job:read"] } }), allowed: 200, names: "nothing" },
  ListAudit: { call: () => ({}), allowed: 200, names: "nothing" },
  ExportAudit: { call: () => ({}), allowed: 200, names: "nothing" },
  VerifyAudit: { call: () => ({}), allowed: 200, names: "nothing" },
};

export const rows = withAliases<Row>(ownRows);

async function newcomersWorld(service: TestService): Promise<World> {
  return { organization: await service.newOrganization(), ids: {} as World["ids"] };
}

async function rejoin({ ids }: World, service: TestService, { userId, roles }: MatrixCaller): Promise<void> {
  if (userId !== undefined && roles !== undefined) await service.addMember(ids.organizationId, userId, roles);
}

type PublicOperation = (typeof publicOperations)[number];
/** Second names of operations. `ownRows` has only the first names. */
type Alias = `${string}ApiAuthToken${string}`;

export const publicOperations = [
  "GetOpenApiDocument",
  "GetLiveness",
  "GetReadiness",
  "ListExecutors",
  "ListExpressionFunctions",
] as const;

export async function buildWorld(service: TestService): Promise<World> {
  const organization = await service.newOrganization();
  const { api, organizationId } = organization;
  const { workflowId, versionId } = await deploy(api, waitingDefinition);
  const finished = await deploy(api, straightDefinition);
  const { jobId } = await submitAndWait(api, workflowId);
  const { jobId: finishedJobId } = await submitAndWait(api, finished.workflowId);
  const { body } = await api.call<{ tokenId: string }>("CreateApiToken", {
    body: { name: "t", permissions: ["job:read"] },
  });
  const { workflowId: taskWorkflowId } = await deploy(
    api,
    taskDefinition({ queue: "${ input.queue }", heartbeatSeconds: 3_600 }),
  );
  const world = { organization, ids: { taskWorkflowId } as World["ids"] };
  for (const [name, permission] of Object.entries(modestRoles)) {
    await api.call("CreateRole", { body: { name, permissions: [permission] } });
  }
  const { userId } = await service.newMember(organization, ["modest"]);
  const jobs = { workflowId, versionId, jobId, finishedJobId, tag: "$LIVE" };
  const people = { userId, role: await freshRole(world, ["role:update"]), ...(await freshInvitation(world)) };
  const { clientId } = await freshOAuthClient(world);
  const tasks = { taskWorkflowId, ...(await freshTask(world)) };
  return {
    organization,
    ids: { organizationId, ...jobs, ...tasks, tokenId: body.tokenId, clientId, ...people } as World["ids"],
  };
}
