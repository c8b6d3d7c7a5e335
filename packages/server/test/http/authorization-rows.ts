import { randomUUID } from "node:crypto";
import type { CallOptions } from "../support/client.ts";
import { straightDefinition, waitingDefinition } from "../support/definitions.ts";
import { deploy, submitAndWait } from "../support/flow.ts";
import type { TestOrganization, TestService } from "../support/service.ts";

/** One organization with one of everything. */
export interface World {
  readonly organization: TestOrganization;
  readonly ids: Readonly<
    Record<"organizationId" | "workflowId" | "versionId" | "jobId" | "finishedJobId" | "tokenId" | "tag", string>
  >;
}

export interface Row {
  /** A valid call on what is in this world. */
  readonly call: (ids: World["ids"]) => CallOptions;
  /** What a caller who may do it is answered. */
  readonly allowed: number;
  /** Something new to act on, where acting uses it up. */
  readonly fresh?: (world: World) => Promise<Partial<World["ids"]>>;
  /** True where the path or the body names something inside of the organization. */
  readonly names?: "nothing";
}

const names = { name: "n", displayName: "n" };
export const unknownId = "00000000-0000-7000-8000-000000000000";

const workflow = ({ workflowId }: World["ids"]) => ({ params: { workflowId } });
const tag = ({ workflowId, tag: name }: World["ids"]) => ({ params: { workflowId, tag: name } });
const job = ({ jobId }: World["ids"]) => ({ params: { jobId } });
const token = ({ tokenId }: World["ids"]) => ({ params: { tokenId } });

async function freshWorkflow({ organization: { api } }: World): Promise<Partial<World["ids"]>> {
  return (await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: randomUUID() } })).body;
}

async function freshTag({ organization: { api }, ids }: World): Promise<Partial<World["ids"]>> {
  const params = { workflowId: ids.workflowId, tag: randomUUID() };
  await api.call("SetWorkflowVersionTag", { params, body: { versionId: ids.versionId } });
  return { tag: params.tag };
}

async function freshToken({ organization: { api } }: World): Promise<Partial<World["ids"]>> {
  const body = { name: "t", permissions: ["job:read"] };
  return (await api.call<{ tokenId: string }>("CreateApiToken", { body })).body;
}

async function freshCancelledJob({ organization: { api }, ids }: World): Promise<Partial<World["ids"]>> {
  const { jobId } = await submitAndWait(api, ids.workflowId);
  await api.call("CancelJob", { params: { jobId } });
  return { jobId };
}

/** A row for each operation of the document. One without a row fails the test of completeness. */
export const rows: Readonly<Record<string, Row>> = {
  CreateOrganization: { call: () => ({ body: names }), allowed: 201, names: "nothing" },
  ListOrganizations: { call: () => ({}), allowed: 200, names: "nothing" },
  GetOrganization: { call: () => ({}), allowed: 200, names: "nothing" },
  UpdateOrganization: { call: () => ({ body: names }), allowed: 200, names: "nothing" },
  // The world has a job that waits, so it cannot be deleted.
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
  GetJobHistory: { call: job, allowed: 200 },
  WatchJob: { call: ({ finishedJobId }) => ({ params: { jobId: finishedJobId } }), allowed: 200 },
  SendJobEvent: { call: (ids) => ({ ...job(ids), body: { eventId: "other" } }), allowed: 200 },
  ListJobEvents: { call: job, allowed: 200 },
  CancelJob: { call: job, allowed: 200, fresh: freshCancelledJob },
  ResumeJob: { call: job, allowed: 200, fresh: freshCancelledJob },
  GetMetrics: { call: () => ({ query: { metric: "jobs_running" } }), allowed: 200, names: "nothing" },
  CreateApiToken: {
    call: () => ({ body: { name: "t", permissions: ["apitoken:create"] } }),
    allowed: 201,
    names: "nothing",
  },
  ListApiTokens: { call: () => ({}), allowed: 200, names: "nothing" },
  GetApiToken: { call: token, allowed: 200 },
  UpdateApiToken: { call: (ids) => ({ ...token(ids), body: { name: "u" } }), allowed: 200 },
  ListAudit: { call: () => ({}), allowed: 200, names: "nothing" },
  ExportAudit: { call: () => ({}), allowed: 200, names: "nothing" },
  VerifyAudit: { call: () => ({}), allowed: 200, names: "nothing" },
  RevokeApiToken: { call: token, allowed: 204, fresh: freshToken },
};

/** Operations that everybody may call. */
export const publicOperations = ["GetOpenApiDocument", "GetLiveness", "GetReadiness"];

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
  return {
    organization,
    ids: { organizationId, workflowId, versionId, jobId, finishedJobId, tokenId: body.tokenId, tag: "$LIVE" },
  };
}
