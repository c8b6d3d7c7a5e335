import { randomUUID } from "node:crypto";
import { ApiDocument } from "@stepwell/testing/api/document.ts";
import { errorClasses, GeneratedClient, type GeneratedError } from "@stepwell/testing/api/generated-client.ts";
import { ask } from "@stepwell/testing/audit-rows.ts";
import { waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, submitAndWait } from "@stepwell/testing/flow.ts";
import { attemptOf, giveSecondFactor, newSignedInPerson, rightPassword, signInAt } from "@stepwell/testing/people.ts";
import { HttpProxy, type Way } from "@stepwell/testing/proxies/http-proxy.ts";
import { type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

interface Ids {
  readonly organizationId: string;
  readonly workflowId: string;
  readonly versionId: string;
  readonly jobId: string;
}

/** Programs that were generated for this interface from a REST-JSON model work with it unchanged. */
onOneStore((home) => {
  const limits = { STEPWELL_TOKEN_SUBMITS_PER_MINUTE: "5", STEPWELL_MAX_WAITING_REQUESTS: "1" };
  const service = useService(home, limits);
  let proxy: HttpProxy;
  let organization: TestOrganization;
  let client: GeneratedClient;

  beforeAll(async () => {
    proxy = await HttpProxy.before(service.baseUrl);
  });
  afterAll(() => proxy.stop());
  beforeEach(async () => {
    organization = await service.newOrganization();
    client = await clientOf(organization.owner.token);
    proxy.expect();
  });

  async function clientOf(token: string, options = {}): Promise<GeneratedClient> {
    return new GeneratedClient(proxy.url, token, await organization.api.document(), options);
  }

  const networks: readonly (readonly [string, readonly Way[]])[] = [
    ["carries everything", []],
    ["loses answers", ["answer-lost", "answer-refused"]],
    ["loses requests", ["refused", "lost"]],
  ];
  test.each(networks)(
    "the whole given interface works, from the organization to the finished job, over a network that %s",
    async (_, ways) => {
      const send = async <Body>(operationId: string, input: object): Promise<Body> => {
        proxy.expect(...ways);
        const body = await client.send<Body>(operationId, input);
        expect(proxy.exchanges).toHaveLength(ways.length + 1);
        for (const [index, { headers }] of proxy.exchanges.entries()) {
          expect(headers).toMatchObject({
            authorization: `Bearer ${organization.owner.token}`,
            "x-amz-user-agent": "generated-client/1.0.0",
            "amz-sdk-invocation-id": proxy.exchanges[0]?.headers["amz-sdk-invocation-id"],
            "amz-sdk-request": `attempt=${index + 1}; max=3`,
          });
        }
        return body;
      };

      const { organizationId } = await send<Ids>("CreateOrganization", { name: "acme", displayName: "Acme" });
      const { workflowId } = await send<Ids>("RegisterWorkflow", { organizationId, name: "order-approval" });
      const workflow = { organizationId, workflowId };
      const { versionId } = await send<Ids>("RegisterWorkflowVersion", { ...workflow, definition: waitingDefinition });
      const tagged = await send("SetWorkflowVersionTag", { ...workflow, tag: "$LIVE", versionId });
      expect(proxy.exchanges[0]?.path).toContain("/tags/%24LIVE");
      expect(tagged).toMatchObject({ tag: "$LIVE", success: true });
      const { workflows } = await send<{ workflows: object[] }>("ListWorkflows", { organizationId });
      expect(workflows).toMatchObject([{ workflowId, name: "order-approval" }]);
      const permissions = ["workflow:create", "job:submit", "job:read", "job:list"];
      await send("CreateApiToken", { organizationId, name: "pipeline", permissions });
      const workflowVersion = { tag: "$LIVE" };
      const inputJson = { sku: "A" };
      const { jobId } = await send<Ids>("SubmitJob", { ...workflow, workflowVersion, inputJson });
      const job = { organizationId, jobId };
      const outcome = await send("SendJobEvent", { ...job, eventId: "approved", payload: { by: "Ada" } });
      expect(["matched", "buffered"]).toContain((outcome as { outcome: string }).outcome);
      const finished = await send<JobBody>("GetJob", { ...job, waitSeconds: 20 });
      expect(finished).toMatchObject({ status: "SUCCEEDED", workflowVersion: { versionId, tag: "$LIVE" } });

      const api = organization.api.bind({ organizationId });
      const lists = { ListWorkflows: "workflows", ListJobs: "jobs", ListApiTokens: "apiTokens" };
      for (const [operationId, list] of Object.entries(lists)) {
        expect((await api.call<Record<string, unknown[]>>(operationId)).body[list], operationId).toHaveLength(1);
      }
      const params = { workflowId };
      const versions = await api.call<{ versions: object[] }>("ListWorkflowVersions", { params });
      expect(versions.body.versions).toHaveLength(1);
      const events = await api.call<{ events: object[] }>("ListJobEvents", { params: { jobId } });
      expect(events.body.events).toMatchObject([{ eventId: "approved", duplicateCount: 0 }]);
    },
  );

  test("a request without a body field is sent with an empty body or without a body", async () => {
    const { organizationId } = organization;
    const { tokenId } = await client.send<{ tokenId: string }>("CreateApiToken", {
      organizationId,
      name: "t",
      permissions: ["job:read"],
    });
    await client.send("RotateApiToken", { organizationId, tokenId });
    expect(proxy.exchanges.at(-1)).toMatchObject({ body: "{}", headers: { "content-type": "application/json" } });
    await expect(client.send("CancelJob", { organizationId, jobId: randomUUID() })).rejects.toThrow("no such job");
    expect(proxy.exchanges.at(-1)?.body).toBe("");
  });

  test("an attempt that comes during the first one is not rejected because the first one has used the code", async () => {
    const person = await newSignedInPerson(service);
    const { recoveryCodes } = await giveSecondFactor(service, person);
    const body = { password: rightPassword, code: recoveryCodes[0] };
    const headers = { "amz-sdk-invocation-id": randomUUID() };
    const renew = () => person.client.call<{ recoveryCodes: string[] }>("RenewRecoveryCodes", { body, headers });
    const answers = await Promise.all([renew(), renew()]);
    const works = async ([code]: readonly string[]) => {
      const signIn = signInAt(service, () => service.running.engine.now());
      return (await signIn.attempt(attemptOf(person, { code }))).outcome === "accepted";
    };
    const working = [];
    for (const answer of answers) working.push(await works(answer.body.recoveryCodes));
    expect(working.filter(Boolean)).toHaveLength(1);
  });

  describe("every error arrives as its class, with its message and fields", () => {
    const large = "x".repeat(1_100_000);
    const provoke: Readonly<Record<string, () => Promise<unknown>>> = {
      ValidationError: () => client.send("RegisterWorkflow", { ...named(), name: 5, surplus: 1 }),
      AuthenticationError: async () => (await clientOf("stw_wrong")).send("ListWorkflows", named()),
      AuthorizationError: async () => {
        const body = { name: "t", permissions: ["metrics:read"] };
        const created = await organization.api.call<{ token: string }>("CreateApiToken", { body });
        return await (await clientOf(created.body.token)).send("RegisterWorkflow", { ...named(), name: "n" });
      },
      NotFoundError: () => client.send("GetJob", { ...named(), jobId: randomUUID() }),
      ConflictError: async () => {
        await client.send("RegisterWorkflow", { ...named(), name: "taken" });
        await client.send("RegisterWorkflow", { ...named(), name: "taken" });
      },
      PreconditionFailedError: async () => {
        const headers = { "if-match": '"anotherState"' };
        const careful = await clientOf(organization.owner.token, { headers });
        await careful.send("UpdateOrganization", { ...named(), displayName: "n" });
      },
      PayloadTooLargeError: () => client.send("RegisterWorkflow", { ...named(), name: large }),
      UnsupportedMediaTypeError: async () => {
        const headers = { "content-type": "application/xml" };
        return await (await clientOf(organization.owner.token, { headers })).send("CreateOrganization", { name: "n" });
      },
      MethodNotAllowedError: async () => {
        const { raw } = await organization.api.document();
        const list = raw.paths["/organizations/{organizationId}/workflows"]?.get;
        if (list === undefined) throw new Error("There is no ListWorkflows.");
        const paths = { "/organizations/{organizationId}/workflows": { put: list } };
        const older = new ApiDocument({ ...raw, paths });
        return await new GeneratedClient(proxy.url, organization.owner.token, older).send("ListWorkflows", named());
      },
      RateLimitError: async () => {
        const hasty = await clientOf(organization.owner.token, { maxAttempts: 1 });
        const { workflowId } = await deploy(organization.api, waitingDefinition);
        for (let left = 20; left > 0; left -= 1) await hasty.send("SubmitJob", { ...named(), workflowId });
      },
      UnavailableError: async () => {
        const hasty = await clientOf(organization.owner.token, { maxAttempts: 1 });
        const { workflowId } = await deploy(organization.api, waitingDefinition);
        const { jobId } = await submitAndWait(organization.api, workflowId);
        const wait = () => hasty.send("GetJob", { ...named(), jobId, waitSeconds: 20 });
        const waiting = [wait(), wait()];
        await Promise.race(waiting).finally(async () => {
          await organization.api.call("CancelJob", { params: { jobId } });
          await Promise.allSettled(waiting);
        });
      },
      UnhandledError: async () => {
        const hasty = await clientOf(organization.owner.token, { maxAttempts: 1 });
        const { database } = service.running;
        await ask(database, "ALTER TABLE role RENAME TO role_elsewhere");
        await hasty
          .send("ListRoles", named())
          .finally(() => ask(database, "ALTER TABLE role_elsewhere RENAME TO role"));
      },
    };

    test("every class is covered", () => {
      expect(Object.keys(provoke).sort()).toEqual(Object.keys(errorClasses).sort());
    });

    function named() {
      return { organizationId: organization.organizationId };
    }

    test.each(Object.keys(provoke))("%s", async (code) => {
      const error = await caught(provoke[code]?.());
      expectError(error, code);
      expect(error.$metadata.attempts).toBe(1);
    });

    test("ValidationError names each field", async () => {
      const error = await caught(client.send("SubmitJob", { ...named(), workflowId: "x", inputJson: [] }));
      expect(Object.keys(error.fields ?? {}).sort()).toEqual(["/inputJson", "/workflowId"]);
      expect(error.fields?.["/inputJson"]).toBe("must be an object");
    });
  });

  async function caught(sending: Promise<unknown> | undefined): Promise<GeneratedError> {
    return await (sending ?? Promise.resolve()).then(
      () => {
        throw new Error("It was not refused.");
      },
      (error: GeneratedError) => error,
    );
  }

  function expectError(error: GeneratedError, code: string): void {
    // A request that waits may be answered after the one that was refused.
    const { answer } = proxy.exchanges.findLast(({ answer: given }) => (given?.status ?? 0) >= 400) ?? {};
    const body = JSON.parse(answer?.body ?? "") as { readonly detail: string; readonly requestId: string };
    expect(error).toBeInstanceOf(errorClasses[code]);
    expect(error.message).toBe(body.detail);
    expect(error.message).not.toBe("");
    expect(error).toMatchObject({ name: code, errorType: code, statusCode: answer?.status });
    expect(error.$metadata).toMatchObject({ httpStatusCode: answer?.status, requestId: body.requestId });
  }
});
