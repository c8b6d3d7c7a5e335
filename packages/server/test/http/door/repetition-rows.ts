import { randomUUID } from "node:crypto";
import { withAliases } from "@stepwell/testing/aliases.ts";
import type { Answer, Client } from "@stepwell/testing/client.ts";
import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { type JobBody, submitAndWait } from "@stepwell/testing/flow.ts";
import {
  attemptOf,
  codeOf,
  giveSecondFactor,
  newSignedInPerson,
  rightPassword,
  signInAt,
} from "@stepwell/testing/people.ts";
import type { TestService } from "@stepwell/testing/service.ts";
import { readTaskId } from "../../../src/core/job/task-id.ts";
import { freshTask, type World } from "../authorization/authorization-rows.ts";

type Body = Readonly<Record<string, unknown>>;

/** A call that is ready to be made, and a way to count its effect. */
export interface Prepared {
  readonly token: string;
  /** The path parameters and the body, in the form in which a generated client takes them. */
  readonly input: object;
  /** Counts the effects of such calls so far: the things that exist, or how often the work was done. */
  readonly count: () => Promise<number>;
  /** Tells whether the secret of this answer works. Checking it may use it up. */
  readonly works?: (answer: Body) => Promise<boolean>;
}

/**
 * The effect of a POST that is repeated under the id of its call:
 * - `replayed`: it returns the first answer again, and does its work once;
 * - `renewed`: its answer is new, and only the secret in this answer works;
 * - `without-effect`: it does nothing, however often it is sent;
 * - `not-found`: it does its work once, and a repetition finds nothing.
 */
export interface RepetitionRow {
  readonly repetition: "replayed" | "renewed" | "without-effect" | "not-found";
  /** How much `count` grows. */
  readonly growth: number;
  readonly prepare: (world: World, service: TestService) => Promise<Prepared>;
}

/** A row for each POST of the document. */
export const repetitionRows: Readonly<Record<string, RepetitionRow>> = withAliases({
  CreateOrganization: replayed(async ({ organization: { owner } }) => ({
    token: owner.token,
    input: { name: "n", displayName: "n" },
    count: counted(owner.client, "ListOrganizations", "organizations"),
  })),
  RegisterWorkflow: replayed(async (world) => ({
    ...owned(world, { name: randomUUID() }),
    count: counted(world.organization.api, "ListWorkflows", "workflows"),
  })),
  RegisterWorkflowVersion: replayed(async (world) => {
    const params = { workflowId: world.ids.workflowId };
    return {
      ...owned(world, { ...params, definition: straightDefinition }),
      count: counted(world.organization.api, "ListWorkflowVersions", "versions", params),
    };
  }),
  SubmitJob: replayed(async (world) => ({
    ...owned(world, { workflowId: world.ids.workflowId, workflowVersion: { tag: "$LIVE" } }),
    count: counted(world.organization.api, "ListJobs", "jobs"),
  })),
  SendJobEvent: replayed(async (world) => {
    const { jobId } = await submitAndWait(world.organization.api, world.ids.workflowId);
    return {
      ...owned(world, { jobId, eventId: "approved", payload: { by: "somebody" } }),
      count: async () => {
        const { body } = await world.organization.api.call<{ events: { duplicateCount: number }[] }>("ListJobEvents", {
          params: { jobId },
        });
        return body.events.reduce((sum, { duplicateCount }) => sum + 1 + duplicateCount, 0);
      },
    };
  }),
  SubmitTask: replayed(async (world) => ({
    ...owned(world, { queue: `queue-${randomUUID()}`, input: { n: 1 } }),
    count: counted(world.organization.api, "ListJobs", "jobs"),
  })),
  PollTasks: withoutEffect(async (world) => ({
    ...owned(world, { queue: `queue-${randomUUID()}` }),
    count: counted(world.organization.api, "ListJobs", "jobs"),
  })),
  CompleteTask: replayed(async (world) => await answeredTask(world, { output: {} }, "step.succeeded")),
  FailTask: replayed(async (world) => await answeredTask(world, { message: "m" }, "step.failed")),
  ReleaseTask: replayed(async (world) => await answeredTask(world, {}, "step.handedBack")),
  HeartbeatTask: withoutEffect(async (world) => await answeredTask(world, {}, "step.succeeded")),
  CancelJob: replayed(async (world) => {
    const { jobId } = await submitAndWait(world.organization.api, world.ids.workflowId);
    return { ...owned(world, { jobId }), count: historyEntries(world, jobId, "job.cancelled") };
  }),
  ResumeJob: replayed(async (world) => {
    const { api } = world.organization;
    const { jobId } = await submitAndWait(api, world.ids.workflowId);
    await api.call<JobBody>("CancelJob", { params: { jobId } });
    return { ...owned(world, { jobId }), count: historyEntries(world, jobId, "job.resumed") };
  }),
  CreateRole: replayed(async (world) => ({
    ...owned(world, { name: `role-${randomUUID()}`, permissions: ["job:read"] }),
    count: counted(world.organization.api, "ListRoles", "roles"),
  })),
  AcceptInvitation: replayed(async ({ organization: { api } }, service) => {
    const { body } = await api.call<{ code: string }>("CreateInvitation", { body: { roles: ["viewer"] } });
    const { token } = await service.newUser();
    return { token, input: { invitation: body.code }, count: counted(api, "ListMembers", "members") };
  }),
  ChangePassword: replayed(async (_world, service) => {
    const { token, client } = await newSignedInPerson(service);
    return {
      token,
      input: { currentPassword: rightPassword, newPassword: "another long password" },
      count: activities(client, "password-changed", "sign-in-refused"),
    };
  }),
  CreateOAuthClient: replayed(async (world) => ({
    ...owned(world, { name: "c", redirectUris: ["https://app.example.org/signed-in"] }),
    count: counted(world.organization.api, "ListOAuthClients", "oauthClients"),
  })),
  DisableSecondFactor: replayed(async (_world, service) => {
    const person = await newSignedInPerson(service);
    const { codeAt } = await giveSecondFactor(service, person);
    return {
      token: person.token,
      input: { password: rightPassword, code: codeAt(service.running.engine.now()) },
      count: activities(person.client, "second-factor-disabled", "sign-in-refused"),
    };
  }),

  CreateApiToken: renewed(async (world, service) => ({
    ...owned(world, { name: "t", permissions: ["job:read"] }),
    count: counted(world.organization.api, "ListApiTokens", "apiTokens"),
    works: isToken(service),
  })),
  RotateApiToken: renewed(async (world, service) => {
    const { api } = world.organization;
    const body = { name: "t", permissions: ["job:read"] };
    const created = await api.call<{ tokenId: string; token: string }>("CreateApiToken", { body });
    return {
      ...owned(world, { tokenId: created.body.tokenId }),
      // The earlier secret stays valid until its overlap ends, whatever happens to the answers.
      count: async () => ((await isToken(service)(created.body)) ? 1 : 0),
      works: isToken(service),
    };
  }, 0),
  CreateInvitation: renewed(async (world, service) => ({
    ...owned(world, { roles: ["viewer"] }),
    count: counted(world.organization.api, "ListInvitations", "invitations"),
    works: async ({ code }) => {
      const { client } = await service.newUser();
      return succeeded(await client.callAny("AcceptInvitation", { body: { invitation: code } }));
    },
  })),
  CreatePasswordLink: renewed(async (world, service) => {
    const { userId } = await service.newMember(world.organization, ["viewer"]);
    return {
      ...owned(world, { userId }),
      count: async () => 0,
      works: async ({ link }) => (await fetch(String(link))).ok,
    };
  }, 0),
  CreateUserToken: renewed(async (_world, service) => {
    const { token, client } = await newSignedInPerson(service);
    return {
      token,
      input: { name: "t", password: rightPassword },
      count: counted(client, "ListUserTokens", "userTokens"),
      works: isToken(service),
    };
  }),
  StartSecondFactor: renewed(async (_world, service) => {
    const { token, client } = await newSignedInPerson(service);
    return {
      token,
      input: { password: rightPassword },
      count: activities(client, "sign-in-refused"),
      works: async ({ secret }) => {
        const code = codeOf(String(secret), service.running.engine.now());
        return succeeded(await client.callAny("ConfirmSecondFactor", { body: { code } }));
      },
    };
  }, 0),
  ConfirmSecondFactor: renewed(async (_world, service) => {
    const person = await newSignedInPerson(service);
    const started = await person.client.call<{ secret: string }>("StartSecondFactor", {
      body: { password: rightPassword },
    });
    return {
      token: person.token,
      input: { code: codeOf(started.body.secret, service.running.engine.now()) },
      count: activities(person.client, "second-factor-enabled", "sign-in-refused"),
      works: isRecoveryCode(service, person),
    };
  }),
  RenewRecoveryCodes: renewed(async (_world, service) => {
    const person = await newSignedInPerson(service);
    const { recoveryCodes } = await giveSecondFactor(service, person);
    return {
      token: person.token,
      input: { password: rightPassword, code: recoveryCodes[0] },
      count: activities(person.client, "recovery-code-used", "sign-in-refused"),
      works: isRecoveryCode(service, person),
    };
  }),

  ValidateWorkflowVersion: withoutEffect(async (world) => {
    const params = { workflowId: world.ids.workflowId };
    return {
      ...owned(world, { ...params, definition: waitingDefinition }),
      count: counted(world.organization.api, "ListWorkflowVersions", "versions", params),
    };
  }),
  CheckPermissions: withoutEffect(async (world) => ({
    ...owned(world, { permissions: ["job:read"] }),
    count: async () => 0,
  })),

  LeaveOrganization: {
    repetition: "not-found",
    growth: -1,
    prepare: async ({ organization }, service) => {
      const { token } = await service.newMember(organization, ["viewer"]);
      const { organizationId, api } = organization;
      return { token, input: { organizationId }, count: counted(api, "ListMembers", "members") };
    },
  },
});

type Prepare = RepetitionRow["prepare"];

function replayed(prepare: Prepare): RepetitionRow {
  return { repetition: "replayed", growth: 1, prepare };
}

function renewed(prepare: Prepare, growth = 1): RepetitionRow {
  return { repetition: "renewed", growth, prepare };
}

function withoutEffect(prepare: Prepare): RepetitionRow {
  return { repetition: "without-effect", growth: 0, prepare };
}

function owned({ organization: { organizationId, owner } }: World, input: object) {
  return { token: owner.token, input: { organizationId, ...input } };
}

/** Returns a function that counts the things in a list. */
function counted(client: Client, operationId: string, list: string, params = {}): () => Promise<number> {
  return async () => {
    const query = { pageSize: 200 };
    const { body } = await client.call<Record<string, unknown[]>>(operationId, { params, query });
    return body[list]?.length ?? Number.NaN;
  };
}

/** Returns a function that counts how often the account's activity names these actions. */
function activities(client: Client, ...actions: readonly string[]): () => Promise<number> {
  return async () => {
    const { body } = await client.call<{ activities: { action: string }[] }>("ListAccountActivity");
    return body.activities.filter(({ action }) => actions.includes(action)).length;
  };
}

/** Makes a task that the owner holds; `count` counts the entries of this type in its job's history. */
async function answeredTask(world: World, body: object, type: string): Promise<Prepared> {
  const { taskId = "" } = await freshTask(world);
  const jobId = readTaskId(taskId)?.jobId ?? "";
  return { ...owned(world, { taskId, ...body }), count: historyEntries(world, jobId, type) };
}

function historyEntries({ organization }: World, jobId: string, type: string): () => Promise<number> {
  return async () => {
    const { body } = await organization.api.call<{ entries: { type: string }[] }>("GetJobHistory", {
      params: { jobId },
    });
    return body.entries.filter((entry) => entry.type === type).length;
  };
}

function isToken(service: TestService): (answer: Body) => Promise<boolean> {
  return async ({ token }) => succeeded(await service.client(String(token)).callAny("WhoAmI", {}));
}

function isRecoveryCode(service: TestService, person: { readonly email: string }): (answer: Body) => Promise<boolean> {
  const { engine } = service.running;
  return async ({ recoveryCodes }) => {
    const [code] = recoveryCodes as string[];
    const result = await signInAt(service, () => engine.now()).attempt(attemptOf(person, { code }));
    return result.outcome === "accepted";
  };
}

function succeeded({ status }: Answer<unknown>): boolean {
  return status < 300;
}
