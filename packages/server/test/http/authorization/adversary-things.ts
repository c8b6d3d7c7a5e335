import { randomBytes, randomInt, randomUUID } from "node:crypto";
import type { Operation } from "@stepwell/testing/api/document.ts";
import { sealAll } from "@stepwell/testing/audit-rows.ts";
import type { CallOptions } from "@stepwell/testing/client.ts";
import { definitionOf, parallelStep, straightDefinition, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, registerVersion, submitAndWait } from "@stepwell/testing/flow.ts";
import { storeActivity, storeSession, storeUserToken } from "@stepwell/testing/identities/stored-account.ts";
import type { RequestField } from "@stepwell/testing/request-fields.ts";
import type { TestService } from "@stepwell/testing/service.ts";
import { expect, vi } from "vitest";
import { createClientId } from "../../../src/auth/credentials/token-form.ts";
import { readTaskId, taskIdOf } from "../../../src/core/job/task-id.ts";
import { rows, type World } from "./authorization-rows.ts";

/** A thing of another organization or its people, and a text of the same form that never named anything. */
export interface Pair {
  readonly theirs: string;
  readonly nobodys: string;
}

const idThings = [
  "organizationId",
  "workflowId",
  "versionId",
  "jobId",
  "tokenId",
  "userId",
  "roleId",
  "invitationId",
  "userTokenId",
  "sessionId",
  "clientId",
  "taskId",
] as const;
/** Each attack gets a name of its own, which no earlier attack gave to anything. */
const namedThings = ["role", "tag", "workflowName", "idempotencyKey", "queue"] as const;
const otherThings = ["organizationKey", "email", "eventId", "seal", "pageToken", "watchedJob", "jobInOwn"] as const;

export type Thing = (typeof idThings | typeof namedThings | typeof otherThings)[number];

/** The thing that belongs in a field, by the field's name. A field that is missing here may have the name of its thing. */
const thingOfName: Readonly<Record<string, Thing>> = {
  workflowIds: "workflowId",
  workflowName: "workflowName",
  actorId: "userId",
  targetId: "jobId",
  tags: "tag",
  roles: "role",
  name: "workflowName",
  key: "organizationKey",
  awaitingEventId: "eventId",
  "Idempotency-Key": "idempotencyKey",
  expect: "seal",
  invitation: "invitationId",
  job: "watchedJob",
};

const all: readonly Thing[] = [...idThings, ...namedThings, ...otherThings];

/** Returns the thing that belongs in a field; undefined if the name of the field does not tell it. */
export function thingOf({ name }: RequestField, { operationId }: Operation): Thing | undefined {
  if (name === "name" && operationId.endsWith("Role")) return "role";
  return thingOfName[name] ?? all.find((thing) => thing === name);
}

/** Returns all things that have the form of the field's values. */
export function thingsFor(field: RequestField, operation: Operation): readonly Thing[] {
  const own = thingOf(field, operation);
  // A change accepts any text as a new name. With a text that is used twice, the second attack would meet what the first one made.
  const names: readonly Thing[] = own === "role" ? [...namedThings, "roleId"] : namedThings;
  const fitting: Readonly<Record<RequestField["kind"], readonly Thing[]>> = {
    id: idThings,
    text: operation.method === "GET" ? all.filter((thing) => thing !== "pageToken") : names,
    fixed: ["organizationId"],
  };
  return [...new Set([...(own === undefined ? [] : [own]), ...fitting[field.kind]])];
}

/** Another organization with at least two of everything, and the ids and names that an attacker knows of it. */
export class Things {
  readonly world: World;
  readonly #service: TestService;
  readonly #pairs = new Map<Thing, Pair>();
  readonly #pageTokens = new Map<string, Pair>();
  readonly #others = new Map<string, string>();

  private constructor(service: TestService, world: World) {
    this.#service = service;
    this.world = world;
  }

  /** `own` is the organization of the callers. Some names combine the id of this organization with the id of a thing of the other organization. */
  static async of(service: TestService, world: World, own: World): Promise<Things> {
    const things = new Things(service, world);
    await things.#complete(own.ids.organizationId);
    return things;
  }

  async pair(thing: Thing, { operationId }: Operation): Promise<Pair | undefined> {
    if (thing === "pageToken") return this.#pageTokens.get(operationId);
    const known = this.#pairs.get(thing);
    return known ?? (await this.#newNamed(thing as (typeof namedThings)[number]));
  }

  /** The other organization's ids. No answer to anybody outside of that organization may contain them. */
  get ids(): readonly string[] {
    return idThings.flatMap((thing) => this.#pairs.get(thing)?.theirs ?? []);
  }

  /** The operations for whose lists a page token is known. */
  get listsWithPages(): readonly string[] {
    return [...this.#pageTokens.keys()];
  }

  /** Returns the other organization's ids, or the same number of ids that never existed, in the form that the rows of operations take. */
  idsOf(side: keyof Pair): World["ids"] {
    const named = Object.entries(this.world.ids).filter(([name]) => idNames.has(name));
    const given = named.map(([name, theirs]) => [
      name,
      side === "theirs" ? theirs : (this.#pairs.get(name as Thing)?.nobodys ?? this.#nobodysOf(name, theirs)),
    ]);
    // The code is one that does not exist, because a real one invites everybody who has it. The tag is the same on both sides, because every workflow
    // has the tag $LIVE.
    return { ...Object.fromEntries(given), code: "no-code", tag: "$LIVE" } as World["ids"];
  }

  #nobodysOf(name: string, theirs: string): string {
    const nobodys = this.#others.get(name) ?? sameForm(theirs);
    this.#others.set(name, nobodys);
    return nobodys;
  }

  async #newNamed(thing: (typeof namedThings)[number]): Promise<Pair> {
    const { api } = this.world.organization;
    const { workflowId, versionId, taskWorkflowId } = this.world.ids;
    const theirs = `n${randomBytes(8).toString("hex")}`;
    const params = { workflowId, tag: theirs };
    const make: Record<(typeof namedThings)[number], () => Promise<unknown>> = {
      role: () => api.call("CreateRole", { body: { name: theirs, permissions: ["job:read"] } }),
      tag: () => api.call("SetWorkflowVersionTag", { params, body: { versionId } }),
      workflowName: () => api.call("RegisterWorkflow", { body: { name: theirs } }),
      queue: () => api.call("SubmitJob", { body: { workflowId: taskWorkflowId, inputJson: { queue: theirs } } }),
      idempotencyKey: () => api.call("SubmitJob", { body: { workflowId }, headers: { "Idempotency-Key": theirs } }),
    };
    await make[thing]();
    return { theirs, nobodys: `n${randomBytes(8).toString("hex")}` };
  }

  async #complete(ownOrganizationId: string): Promise<void> {
    const { organization, ids } = this.world;
    const { api, owner } = organization;
    await this.#service.newOrganization(owner);
    await registerVersion(api, ids.workflowId, straightDefinition);
    const params = { workflowId: ids.workflowId };
    for (const tag of ["$LIVE", "other"]) {
      const body = { versionId: ids.versionId };
      await api.call("SetWorkflowVersionTag", { params: { ...params, tag }, body });
    }
    const eventId = randomUUID();
    await api.call("SendJobEvent", { params: { jobId: ids.jobId }, body: { eventId } });
    await api.call("SendJobEvent", { params: { jobId: ids.jobId }, body: { eventId: "second" } });
    await api.call("CreateApiToken", { body: { name: "t", permissions: ["job:read"] } });
    await api.call("CreateInvitation", { body: { roles: ["viewer"] } });
    for (const queue of ["first", "second", ids.queue]) {
      await api.call("SubmitJob", { body: { workflowId: ids.taskWorkflowId, inputJson: { queue } } });
    }
    const redirectUris = ["https://app.example.org/"];
    await api.call("CreateOAuthClient", { body: { name: "c", redirectUris } });
    await storeUserToken(this.#service, owner.userId, "t");
    for (let count = 0; count < 2; count += 1) await storeActivity(this.#service, owner.userId);
    const sessionId = await storeSession(this.#service, owner.userId);
    await storeSession(this.#service, owner.userId);
    const { body: shown } = await api.call<{ key: string }>("GetOrganization");
    const { body: role } = await api.call<{ roleId: string }>("GetRole", { params: { role: ids.role } });
    await sealAll(this.#service, ids.organizationId);
    await this.#workerNoted();
    type Verified = { newestSeal: { number: number; hash: string } };
    const { newestSeal } = (await api.call<Verified>("VerifyAudit")).body;
    const theirs: Readonly<Record<Exclude<Thing, (typeof namedThings)[number] | "pageToken">, string>> = {
      ...(ids as World["ids"] & { invitationId: string }),
      roleId: role.roleId,
      userTokenId: owner.tokenId,
      sessionId,
      organizationKey: shown.key,
      email: `${ids.userId}@example.org`,
      eventId,
      watchedJob: `${ids.organizationId}/${ids.jobId}`,
      jobInOwn: `${ownOrganizationId}/${ids.jobId}`,
      seal: `${newestSeal.number}:${newestSeal.hash}`,
    };
    for (const thing of [...idThings, ...otherThings]) {
      if (thing !== "pageToken") this.#pairs.set(thing, { theirs: theirs[thing], nobodys: sameForm(theirs[thing]) });
    }
    const nobodysClientId = createClientId(sameForm(ids.organizationId), sameForm(ids.jobId));
    this.#pairs.set("clientId", { theirs: ids.clientId, nobodys: nobodysClientId });
    const { nobodys: nobodysJob = "" } = this.#pairs.get("jobId") ?? {};
    const theirTask = readTaskId(ids.taskId);
    if (theirTask === undefined) throw new Error("The world has no task.");
    this.#pairs.set("taskId", { theirs: ids.taskId, nobodys: taskIdOf({ ...theirTask, jobId: nobodysJob }) });
    this.#pairs.set("jobInOwn", { theirs: theirs.jobInOwn, nobodys: `${ownOrganizationId}/${nobodysJob}` });
    await this.#collectPageTokens();
  }

  async #forkedJob(): Promise<CallOptions> {
    const { api } = this.world.organization;
    const steps = [
      parallelStep("both", { left: "first", right: "second" }, null),
      waitStep("first", ["x"], null),
      waitStep("second", ["x"], null),
    ];
    const { workflowId } = await deploy(api, definitionOf(...steps));
    const { jobId } = await submitAndWait(api, workflowId);
    return { params: { jobId } };
  }

  /**
   * Waits until the service has recorded the workers that polled, which it does some seconds later, so that this does not look like a change by an
   * attack.
   */
  async #workerNoted(): Promise<void> {
    const params = { queue: this.world.ids.queue };
    await vi.waitFor(
      async () => {
        const { body } = await this.world.organization.api.call<{ workers: object[] }>("GetTaskQueue", { params });
        expect(body.workers).toHaveLength(1);
      },
      { timeout: 20_000, interval: 100 },
    );
  }

  async #collectPageTokens(): Promise<void> {
    const { api } = this.world.organization;
    const { operations } = await api.document();
    const forked = await this.#forkedJob();
    for (const { operationId, declaration } of operations) {
      if (!declaration.parameters?.some(({ name }) => name === "pageToken")) continue;
      const options = operationId === "ListJobBranches" ? forked : (rows[operationId]?.call(this.world.ids) ?? {});
      const query = { ...options.query, pageSize: 1 };
      const { body } = await api.call<{ nextPageToken?: string }>(operationId, { ...options, query });
      const token = body.nextPageToken;
      if (token !== undefined) this.#pageTokens.set(operationId, { theirs: token, nobodys: sameForm(token) });
    }
  }
}

/** The ids and names that the rows of operations use. */
const idNames: ReadonlySet<string> = new Set([...idThings, "finishedJobId", "taskWorkflowId", "queue", "role"]);

/** Makes a text of the same length and form, but with another meaning. */
function sameForm(text: string): string {
  if (uuid.test(text)) return `${text.slice(0, 15)}${randomUUID().slice(15)}`;
  if (text.includes("/")) return text.split("/").map(sameForm).join("/");
  const [number, hash] = text.split(":");
  if (hash !== undefined) return `${number}:${randomBytes(32).toString("hex")}`;
  const [name, host] = text.split("@");
  if (host !== undefined) return `${sameForm(name ?? "")}@${host}`;
  return text.replace(/[a-z]/g, () => String.fromCharCode(97 + randomInt(26)));
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
