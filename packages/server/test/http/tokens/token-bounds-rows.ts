import { withAliases } from "@stepwell/testing/aliases.ts";

/**
 * The answer to a narrow token that holds every permission:
 * - `allowed`: the same as to a token without bounds;
 * - `unknown`: 404, byte for byte as for an id that nobody has;
 * - `refused`: a 403 that names the token's bounds;
 * - `personal`: a 403 that names the permission, which no API token can have.
 */
export type Expected = "allowed" | "unknown" | "refused" | "personal";

/** `inside` is the answer for a target inside of the bound, `outside` for one outside. */
type Cell = readonly [inside: Expected, outside: Expected];

export interface BoundsRow {
  readonly workflows: Cell;
  readonly tags: Cell;
  readonly jobEvent: Cell;
}

const always = (expected: Expected): Cell => [expected, expected];
const row = (workflows: Cell, tags: Cell, jobEvent: Cell = always("refused")): BoundsRow => ({
  workflows,
  tags,
  jobEvent,
});

/** Every token with bounds is rejected. */
const shut = row(always("refused"), always("refused"));
const personal = row(always("personal"), always("personal"), always("personal"));
const looksAtWorkflow = row(["allowed", "unknown"], always("allowed"));
/** A token that is bound to workflows or tags may find fewer things; other tests check which. A token that is bound to an event is rejected. */
const finds = row(always("allowed"), always("allowed"));
const changesBoth = row(["allowed", "unknown"], ["allowed", "refused"]);

/** A row for each of the document's operations that check who is calling. */
export const boundsRows = withAliases<BoundsRow>({
  WhoAmI: row(always("allowed"), always("allowed"), always("allowed")),

  GetAccount: personal,
  GetAccountLimits: personal,
  UpdateAccount: personal,
  ListAccountActivity: personal,
  ChangePassword: personal,
  StartSecondFactor: personal,
  ConfirmSecondFactor: personal,
  DisableSecondFactor: personal,
  RenewRecoveryCodes: personal,
  ListUserTokens: personal,
  CreateUserToken: personal,
  RevokeUserToken: personal,
  ListSessions: personal,
  EndSession: personal,

  CreateOrganization: personal,
  ListOrganizations: shut,
  GetOrganization: shut,
  UpdateOrganization: shut,
  DeleteOrganization: shut,

  RegisterWorkflow: row(always("refused"), always("allowed")),
  ListWorkflows: finds,
  GetWorkflow: looksAtWorkflow,
  // The tags of the workflow would be deleted, too, including those outside of the bound.
  DeleteWorkflow: row(["allowed", "unknown"], always("refused")),
  RegisterWorkflowVersion: looksAtWorkflow,
  ValidateWorkflowVersion: looksAtWorkflow,
  ListWorkflowVersions: looksAtWorkflow,
  GetWorkflowVersion: looksAtWorkflow,
  SetWorkflowVersionTag: changesBoth,
  GetTaggedWorkflowVersion: looksAtWorkflow,
  ListTags: looksAtWorkflow,
  DeleteTag: changesBoth,
  ListTagHistory: looksAtWorkflow,

  SubmitJob: changesBoth,
  GetJob: looksAtWorkflow,
  ListJobs: finds,
  ExplainJob: looksAtWorkflow,
  GetJobState: looksAtWorkflow,
  GetJobStateMetadata: looksAtWorkflow,
  GetJobHistory: looksAtWorkflow,
  ListJobSteps: looksAtWorkflow,
  ListJobBranches: looksAtWorkflow,
  WatchJob: looksAtWorkflow,
  // The stream itself reports that a job is outside of the bounds.
  WatchJobs: finds,
  SendJobEvent: row(["allowed", "unknown"], ["allowed", "refused"], ["allowed", "unknown"]),
  ListJobEvents: looksAtWorkflow,
  SubmitTask: shut,
  PollTasks: shut,
  CompleteTask: shut,
  FailTask: shut,
  ReleaseTask: shut,
  HeartbeatTask: shut,
  ListTaskQueues: shut,
  GetTaskQueue: shut,
  ListTasks: shut,
  UpdateTaskQueue: shut,
  CancelJob: changesBoth,
  ResumeJob: changesBoth,
  GetMetrics: finds,
  GetRateLimits: shut,
  GetLimits: shut,

  CreateApiToken: shut,
  ListApiTokens: shut,
  GetApiToken: shut,
  UpdateApiToken: shut,
  RotateApiToken: shut,
  RevokeApiToken: shut,

  ListAudit: shut,
  ExportAudit: shut,
  VerifyAudit: shut,

  ListMembers: shut,
  GetMember: shut,
  UpdateMember: shut,
  RemoveMember: shut,
  CreatePasswordLink: shut,
  LeaveOrganization: shut,
  CreateRole: shut,
  ListRoles: shut,
  CreateOAuthClient: shut,
  ListOAuthClients: shut,
  GetOAuthClient: shut,
  DeleteOAuthClient: shut,
  GetRole: shut,
  UpdateRole: shut,
  DeleteRole: shut,
  CreateInvitation: shut,
  ListInvitations: shut,
  GetInvitation: shut,
  RevokeInvitation: shut,
  AcceptInvitation: personal,
  ListSignInProviders: shut,
  GetOwnPermissions: finds,
  CheckPermissions: finds,
});
