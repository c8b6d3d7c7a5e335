import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type {} from "@fastify/swagger";
import { documentOfBuild } from "@stepwell/testing/api/document.ts";
import { secrets } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { Ajv2020 } from "ajv/dist/2020.js";
import { pino } from "pino";
import { expect, inject, test } from "vitest";
import { Authenticator } from "../../../src/auth/authenticator.ts";
import { ExternalBearers } from "../../../src/auth/external/bearers.ts";
import { SingleSignOn } from "../../../src/auth/external/single-sign-on.ts";
import { OwnLimits } from "../../../src/auth/limits/own-limits.ts";
import { RateLimits } from "../../../src/auth/limits/rate-limits.ts";
import { IdTokenBearers } from "../../../src/auth/oidc/id-token-bearers.ts";
import { OpenId } from "../../../src/auth/oidc/open-id.ts";
import { PasswordSignIn } from "../../../src/auth/passwords/password-sign-in.ts";
import { permissions } from "../../../src/auth/permissions/permissions.ts";
import { readConfig } from "../../../src/config.ts";
import { executorCatalog } from "../../../src/engine/executors/catalog.ts";
import { DefinitionChecks } from "../../../src/engine/plans/definition-checks.ts";
import { Plans } from "../../../src/engine/plans/plans.ts";
import type { App } from "../../../src/http/door/app.ts";
import { IdempotencyHeaders } from "../../../src/http/door/idempotency.ts";
import { createValidatorCompiler } from "../../../src/http/door/validation.ts";
import { createServer } from "../../../src/http/server.ts";
import { admit } from "../../../src/management/membership/admission.ts";

const root = resolve(import.meta.dirname, "../../../../..");

onOneStore((home) => {
  const service = useService(home);

  /** Makes another server over the running engine. This server does not listen yet. */
  function anotherServer(): App {
    const { engine, database } = service.running;
    const config = readConfig({});
    const now = () => engine.now();
    const newId = () => engine.newId();
    const openId = new OpenId({ config, database, secrets, now, newId, publicUrl: () => service.baseUrl });
    const ignore = () => {};
    const admissionParts = { database, engine, config, onChanged: ignore, onLastOwnerKept: ignore };
    const singleSignOn = new SingleSignOn([], {
      now,
      onTrouble: ignore,
      admit: (...who) => admit(admissionParts, ...who),
    });
    const externalBearers = new ExternalBearers(singleSignOn);
    const idTokens = new IdTokenBearers({ ...openId, database });
    const authenticator = new Authenticator({ database, now, idTokens, externalBearers });
    const signIn = new PasswordSignIn({ database, now, newId, secrets });
    const rateLimits = new RateLimits({
      database,
      ownLimits: new OwnLimits(database),
      config,
      now,
      nodeCount: () => 1,
      onFailure() {},
    });
    const metrics = { requestStarted() {}, requestFinished() {}, requestLimited() {} };
    const logger = pino({ level: "silent" });
    const executors = executorCatalog(config);
    return createServer({
      engine,
      database,
      config,
      executors,
      definitionChecks: new DefinitionChecks({ config, onFailure: ignore }),
      plans: new Plans(executors, config),
      authenticator,
      signIn,
      openId,
      singleSignOn,
      secrets,
      rateLimits,
      logger,
      metrics,
    });
  }

  test("the document passes the linter without an error or a warning", async () => {
    const { raw } = await service.client(undefined).document();
    const file = join(inject("scratchDirectory"), `openapi-${home.name}.json`);
    await writeFile(file, JSON.stringify(raw, undefined, 2));
    const script = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"));
    const args = [script, "lint", file, "--config", join(root, "redocly.yaml"), "--format", "json"];
    const linter = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    });
    let report = "";
    linter.stdout.on("data", (chunk: Buffer) => {
      report += chunk.toString("utf8");
    });
    const [code] = await once(linter, "exit");
    expect(JSON.parse(report)).toMatchObject({ totals: { errors: 0, warnings: 0 }, problems: [] });
    expect(code).toBe(0);
  });

  test("the schemas of every request are valid and compile, although the service compiles them only at the first call of an operation", async () => {
    const app = anotherServer();
    const check = createValidatorCompiler();
    const ajv = new Ajv2020();
    let checked = 0;
    app.addHook("onRoute", ({ method, url, schema = {} }) => {
      for (const httpPart of ["body", "params", "querystring"] as const) {
        const part = schema[httpPart] as object | undefined;
        if (part === undefined) continue;
        expect([ajv.validateSchema(part), ajv.errors]).toEqual([true, null]);
        check({ schema: part, httpPart, method: String(method), url })({});
        checked += 1;
      }
    });
    await app.ready();
    expect(checked).toBeGreaterThan(100);
  });

  test("every route is in the document, and every operation of the document is a route", async () => {
    const app = anotherServer();
    const routes: string[] = [];
    app.addHook("onRoute", ({ method, url, schema }) => {
      // Pages are for people, so they are not in the document. Each GET also has a HEAD, which HTTP itself describes.
      if (schema?.hide === true || method === "HEAD") return;
      routes.push(...[method].flat().map((name) => `${name} ${url.replace(/:(\w+)/g, "{$1}")}`));
    });
    await app.ready();
    const { operations } = await service.client(undefined).document();
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(routes.sort());
    await app.close();
  });

  test("a route without a declared permission does not start", () => {
    expect(() => anotherServer().get("/forgotten", async () => "")).toThrow(/x-permission/);
  });

  test("a POST without a declared behaviour for repetitions does not start", () => {
    const schema = { operationId: "Forgotten", "x-permission": "any", tags: ["service"] } as const;
    expect(() => anotherServer().post("/forgotten", { schema }, async () => "")).toThrow(/repetition/);
    const config = { repetition: "without-effect" } as const;
    expect(() => anotherServer().post("/known", { config, schema }, async () => "")).not.toThrow();
    const both = { config, schema: { ...schema, headers: IdempotencyHeaders } };
    expect(() => anotherServer().post("/both", both, async () => "")).toThrow(/repetition/);
  });

  test("every operation with a credential declares the cost of a request: a read 1, a change 5, and these exceptions", async () => {
    const { operations } = await service.client(undefined).document();
    const costOf = (method: string) => (method === "GET" ? 1 : 5);
    const others = operations
      .filter(({ method, permission, declaration: { "x-cost": cost } }) =>
        permission === "none" ? cost !== undefined : cost !== costOf(method),
      )
      .map(({ operationId, declaration }) => [operationId, declaration["x-cost"]]);
    expect(Object.fromEntries(others)).toEqual({
      SubmitJob: 2,
      CancelJob: 2,
      ResumeJob: 2,
      SubmitTask: 2,
      PollTasks: 1,
      CompleteTask: 1,
      FailTask: 1,
      ReleaseTask: 1,
      HeartbeatTask: 1,
      SendJobEvent: 2,
      ListJobs: 5,
      ListJobBranches: 5,
      GetJobState: 5,
      ListAudit: 5,
      GetLimits: 5,
      GetMetrics: 10,
      WatchJobs: 10,
      RegisterWorkflowVersion: 20,
      ValidateWorkflowVersion: 20,
      ExportAudit: 50,
      VerifyAudit: 50,
    });
  });

  test("every operation has a unique name, an existing permission, a tag, a summary and described answers", async () => {
    const document = await service.client(undefined).document();
    const { operations } = document;
    const names = operations.map((operation) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const { operationId, permission, declaration } of operations) {
      expect([...permissions, "any", "none"], operationId).toContain(permission);
      expect(declaration.security, operationId).toEqual(permission === "none" ? [] : [{ bearerToken: [] }]);
      expect(declaration.tags.length, operationId).toBe(1);
      expect(declaration.summary, operationId).toBeTruthy();
      for (const status of Object.keys(declaration.responses)) {
        const { description } = document.answerOf(operationId, status);
        expect(description, `${operationId} ${status}`).toBeTruthy();
        expect(description, `${operationId} ${status}`).not.toBe("Default Response");
      }
    }
  });

  // The clients of all tests check answers against the document of the build, so a service must serve the same one.
  test("a service serves the document of its build, with its own address", async () => {
    const { raw } = await service.client(undefined).document();
    const ofBuild = (await documentOfBuild()).raw;
    expect(raw).toEqual({ ...ofBuild, servers: [{ url: service.baseUrl }] });
  });

  test("every operation has a summary and a description, and every description consists of whole sentences", async () => {
    const { operations, raw } = await service.client(undefined).document();
    for (const { operationId, declaration } of operations) {
      expect(declaration.summary, operationId).toMatch(/^[A-Z].*[^.]$/);
      expect(declaration.description, operationId).toMatch(/\.$/);
    }
    const texts = descriptionsIn(raw);
    expect(texts.length).toBeGreaterThan(operations.length);
    expect(texts.filter((text) => !/^[A-Z`].*\.$/.test(text))).toEqual([]);
  });

  // The client of the tests checks that the headers of its answers are those of the document. The second half of this test tests that check.
  test("the document names the headers of an answer, and which of them are always present", async () => {
    const { api } = await service.newOrganization();
    const document = await api.document();
    const headersOf = (operationId: string, status: number) =>
      Object.keys(document.answerOf(operationId, status).headers ?? {});
    const counted = ["X-Request-Id", "traceresponse", "RateLimit", "RateLimit-Policy"];
    const problem = [...counted, "x-amzn-errortype", "x-amzn-requestid"];
    expect(headersOf("GetLiveness", 200)).toEqual(["X-Request-Id", "traceresponse"]);
    expect(headersOf("CreateRole", 201)).toEqual([...counted, "Idempotency-Replayed", "ETag", "Location"]);
    expect(headersOf("GetRole", 200)).toEqual([...counted, "ETag"]);
    expect(headersOf("DeleteRole", 204)).toEqual(counted);
    expect(headersOf("CreatePasswordLink", 201)).toEqual(counted);
    expect(headersOf("ExportAudit", 200)).toEqual([...counted, "Content-Disposition"]);
    expect(headersOf("GetRole", 401)).toEqual([...problem, "WWW-Authenticate"]);
    expect(headersOf("GetRole", 503)).toEqual([...problem, "Retry-After", "Location"]);
    expect(JSON.stringify(document.raw)).not.toContain("x-replayable");

    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const params = { role: "viewer" };
    const answer = await api.call("GetRole", { params, headers: { traceparent } });
    expect(answer.headers.has("traceresponse")).toBe(true);
    const changed = (change: (headers: Headers) => void) => {
      const headers = new Headers(answer.headers);
      change(headers);
      return () => document.check("GetRole", { ...answer, headers });
    };
    expect(changed(() => {})).not.toThrow();
    expect(changed((headers) => headers.delete("etag"))).toThrow(/ETag/);
    expect(changed((headers) => headers.set("x-debug", "1"))).toThrow(/x-debug/);
    expect(changed((headers) => headers.set("traceresponse", "x"))).toThrow(/traceresponse/);
  });

  test("every operation of the contract exists under its name", async () => {
    const { operations } = await service.client(undefined).document();
    expect(operations.map(({ operationId }) => operationId)).toEqual(expect.arrayContaining(contractOperations));
  });

  test("an optional body is documented as optional, and all others as required", async () => {
    const { operations } = await service.client(undefined).document();
    const optional = operations.filter(({ declaration }) => declaration.requestBody?.required === false);
    expect(optional.map(({ operationId }) => operationId)).toEqual([
      "CancelJob",
      "ResumeJob",
      "ReleaseTask",
      "RotateApiToken",
      "RotateApiAuthToken",
    ]);
    const text = JSON.stringify(operations);
    expect(text).not.toContain("x-optional-body");
  });

  // The operations below are exceptions. Some answer with a secret, or get a password or a code. The service stores none of these for repetitions.
  // The others need no key.
  test("every POST that creates or acts supports an Idempotency-Key", async () => {
    const { operations } = await service.client(undefined).document();
    const without = operations.filter(
      ({ method, declaration }) =>
        method === "POST" && !declaration.parameters?.some((parameter) => parameter.name === "Idempotency-Key"),
    );
    expect(without.map(({ operationId }) => operationId)).toEqual([
      "ValidateWorkflowVersion",
      "PollTasks",
      "HeartbeatTask",
      "CreateApiToken",
      "CreateApiAuthToken",
      "ChangePassword",
      "StartSecondFactor",
      "ConfirmSecondFactor",
      "DisableSecondFactor",
      "RenewRecoveryCodes",
      "CreateUserToken",
      "RotateApiToken",
      "RotateApiAuthToken",
      "LeaveOrganization",
      "CreatePasswordLink",
      "CreateInvitation",
      "CheckPermissions",
    ]);
  });
});

/** Returns all descriptions except those in examples. */
function descriptionsIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    if (key === "example") return [];
    return key === "description" && typeof item === "string" ? [item] : descriptionsIn(item);
  });
}

const contractOperations = [
  "CreateOrganization",
  "ListOrganizations",
  "GetOrganization",
  "UpdateOrganization",
  "DeleteOrganization",
  "RegisterWorkflow",
  "ListWorkflows",
  "GetWorkflow",
  "DeleteWorkflow",
  "RegisterWorkflowVersion",
  "ValidateWorkflowVersion",
  "ListWorkflowVersions",
  "GetWorkflowVersion",
  "SetWorkflowVersionTag",
  "GetTaggedWorkflowVersion",
  "ListTags",
  "DeleteTag",
  "SubmitJob",
  "GetJob",
  "ListJobs",
  "GetJobHistory",
  "ListJobSteps",
  "GetJobState",
  "GetJobStateMetadata",
  "WatchJob",
  "WatchJobs",
  "SendJobEvent",
  "ListJobEvents",
  "CancelJob",
  "ResumeJob",
  "GetMetrics",
  "CreateApiToken",
  "ListApiTokens",
  "GetApiToken",
  "UpdateApiToken",
  "RevokeApiToken",
  "CreateApiAuthToken",
  "ListApiAuthTokens",
  "GetApiAuthToken",
  "UpdateApiAuthToken",
  "RevokeApiAuthToken",
  "RotateApiAuthToken",
];
