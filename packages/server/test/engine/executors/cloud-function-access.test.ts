import { accountId, callOnce, configOf } from "@stepwell/testing/functions/calls.ts";
import {
  answer,
  type ReceivedRequest,
  type Script,
  ScriptedServer,
} from "@stepwell/testing/functions/scripted-server.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LambdaClients } from "../../../src/engine/executors/cloud-function/cloud-function-clients.ts";

// These tests check where a call goes, and with which identity. AWS is a scripted server, and the SDK's own environment variables name its address.

const roleArn = `arn:aws:iam::${accountId}:role/stepwell-invoke`;
const organizationA = "019aa0e7-0000-7000-8000-00000000000a";
const organizationB = "019aa0e7-0000-7000-8000-00000000000b";

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  vi.stubEnv("AWS_CONFIG_FILE", "/nonexistent");
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent");
});
afterEach(() => void vi.unstubAllEnvs());

function giveTheServiceCredentials() {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIASERVICE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "the-services-secret");
  vi.stubEnv("AWS_SESSION_TOKEN", "the-services-session");
}

async function startAws(variable: "AWS_ENDPOINT_URL_LAMBDA" | "AWS_ENDPOINT_URL_STS", script: Script) {
  const server = await ScriptedServer.start(script);
  vi.stubEnv(variable, server.endpoint.href);
  return server;
}

function functionNameOf(request: ReceivedRequest | undefined): string {
  return decodeURIComponent(request?.path.split("/")[3] ?? "");
}

function signerOf(request: ReceivedRequest | undefined): string | undefined {
  return /Credential=([^/]+)/.exec(request?.headers.authorization ?? "")?.[1];
}

test("AWS is called with the full name of the function, including the account, and with the service's credentials", async () => {
  giveTheServiceCredentials();
  await using lambda = await startAws("AWS_ENDPOINT_URL_LAMBDA", answer("1"));
  expect(await callOnce({}, { config: configOf("reserve", { qualifier: "live" }) })).toMatchObject({ output: 1 });
  const [request] = lambda.requests;
  expect(functionNameOf(request)).toBe(`arn:aws:lambda:eu-west-1:${accountId}:function:reserve:live`);
  expect(signerOf(request)).toBe("AKIASERVICE");
});

test("regions of other AWS partitions have other addresses", async () => {
  giveTheServiceCredentials();
  await using lambda = await startAws("AWS_ENDPOINT_URL_LAMBDA", answer("1"));
  await callOnce({}, { config: configOf("reserve", { region: "cn-north-1" }) });
  await callOnce({}, { config: configOf("reserve", { region: "us-gov-west-1" }) });
  expect(lambda.requests.map(functionNameOf)).toEqual([
    `arn:aws-cn:lambda:cn-north-1:${accountId}:function:reserve`,
    `arn:aws-us-gov:lambda:us-gov-west-1:${accountId}:function:reserve`,
  ]);
});

test("a call without credentials fails with a message that says what to do", async () => {
  expect(await callOnce({})).toMatchObject({
    kind: "ordinary",
    error: {
      code: "ExecutorError",
      message: expect.stringMatching(/^No AWS credentials were found: give the service/),
    },
  });
});

test("an emulator is called with the plain function name, needs no credentials and gets none of the service's", async () => {
  giveTheServiceCredentials();
  await using emulator = await ScriptedServer.start(answer("1"));
  await callOnce(
    { cloudFunctionEndpoint: emulator.endpoint, cloudFunctionRoleName: "stepwell-invoke" },
    { config: configOf("reserve", { qualifier: "live" }) },
  );
  const [request] = emulator.requests;
  expect(functionNameOf(request)).toBe("reserve");
  expect(request?.path).toContain("?Qualifier=live");
  expect(signerOf(request)).toBe(accountId);
  expect(request?.headers).not.toHaveProperty("x-amz-security-token");
});

test("an endpoint in the definition has priority over the service's own if the operator allows it", async () => {
  await using emulator = await ScriptedServer.start(answer("1"));
  const config = configOf("reserve", { endpoint: emulator.endpoint.href });
  const cloudFunctionEndpoint = new URL("http://127.0.0.1:9");
  const result = await callOnce({ cloudFunctionEndpoint, allowFunctionEndpoints: true }, { config });
  expect(result).toMatchObject({ output: 1 });
});

test("a version that names an endpoint is not called any more after the operator forbids endpoints", async () => {
  await using emulator = await ScriptedServer.start(answer("1"));
  const result = await callOnce({}, { config: configOf("reserve", { endpoint: emulator.endpoint.href }) });
  expect(result).toMatchObject({ kind: "permanent", error: { message: expect.stringContaining("/endpoint") } });
  expect(emulator.requests).toEqual([]);
});

const grantRole: Script = (response, request) => {
  const asked = new URLSearchParams(request.body);
  const granted = `<AccessKeyId>ASIA-${asked.get("ExternalId")}</AccessKeyId><SecretAccessKey>s</SecretAccessKey>
    <SessionToken>t</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration>`;
  response.writeHead(200, { "content-type": "text/xml" });
  response.end(`<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
    <Credentials>${granted}</Credentials></AssumeRoleResult></AssumeRoleResponse>`);
};

test("a role of the function's account is assumed for the organization and signs the call", async () => {
  giveTheServiceCredentials();
  await using lambda = await startAws("AWS_ENDPOINT_URL_LAMBDA", answer("1"));
  await using sts = await startAws("AWS_ENDPOINT_URL_STS", grantRole);
  await callOnce({ cloudFunctionRoleName: "stepwell-invoke" }, { organizationId: organizationA });
  expect(Object.fromEntries(new URLSearchParams(sts.requests[0]?.body))).toMatchObject({
    RoleArn: roleArn,
    ExternalId: organizationA,
    RoleSessionName: `stepwell-${organizationA}`,
  });
  expect(signerOf(sts.requests[0])).toBe("AKIASERVICE");
  expect(signerOf(lambda.requests[0])).toBe(`ASIA-${organizationA}`);
});

test("a role in the definition has priority over the service's own if the operator allows it", async () => {
  giveTheServiceCredentials();
  await using _lambda = await startAws("AWS_ENDPOINT_URL_LAMBDA", answer("1"));
  await using sts = await startAws("AWS_ENDPOINT_URL_STS", grantRole);
  const config = configOf("reserve", { roleArn });
  await callOnce({ cloudFunctionRoleName: "another", allowFunctionRoles: true }, { config });
  expect(new URLSearchParams(sts.requests[0]?.body).get("RoleArn")).toBe(roleArn);
});

test.each([
  ["refuses", awsStsError(403, "AccessDenied"), "ordinary", /may not assume .*stepwell-invoke.* external id 019aa0e7/],
  [
    "finds the service's credentials expired",
    awsStsError(403, "ExpiredToken"),
    "ordinary",
    /refused .* \(ExpiredToken\)/,
  ],
])("if STS %s, the failure says what to do", async (_, script, kind, message) => {
  giveTheServiceCredentials();
  await using _sts = await startAws("AWS_ENDPOINT_URL_STS", script);
  const result = await callOnce({ cloudFunctionRoleName: "stepwell-invoke" });
  expect(result).toMatchObject({ kind, error: { code: "ExecutorError", message: expect.stringMatching(message) } });
});

test("no role can be assumed without credentials, and the failure says that credentials are missing", async () => {
  expect(await callOnce({ cloudFunctionRoleName: "stepwell-invoke" })).toMatchObject({
    error: { message: expect.stringMatching(/^No AWS credentials were found/) },
  });
});

function awsStsError(status: number, code: string): Script {
  return (response) => {
    response.writeHead(status, { "content-type": "text/xml" });
    response.end(
      `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>SECRET</Message></Error></ErrorResponse>`,
    );
  };
}

const input = { FunctionName: "reserve", Payload: Buffer.from("{}") };
const optionsOf = () => ({ abortSignal: new AbortController().signal, requestTimeout: 5_000 });

test("a client keeps its credentials for the next call, and no other organization uses them", async () => {
  giveTheServiceCredentials();
  await using lambda = await startAws("AWS_ENDPOINT_URL_LAMBDA", answer("1"));
  await using sts = await startAws("AWS_ENDPOINT_URL_STS", grantRole);
  const clients = new LambdaClients({ maxAnswerBytes: 1_000 });
  for (const organizationId of [organizationA, organizationB, organizationA]) {
    const identity = { type: "role", roleArn, organizationId } as const;
    await clients.invoke({ region: "eu-west-1", endpoint: undefined, identity }, input, optionsOf());
  }
  clients.close();
  expect(sts.requests).toHaveLength(2);
  expect(lambda.requests.map(signerOf)).toEqual(
    [organizationA, organizationB, organizationA].map((id) => `ASIA-${id}`),
  );
});

test("a client that is removed from the cache during a call completes the call", async () => {
  const held = Promise.withResolvers<() => void>();
  await using server = await ScriptedServer.start((response, request) => {
    if (functionNameOf(request) === "held") held.resolve(() => response.end('"late"'));
    else response.end("1");
  });
  const clients = new LambdaClients({ maxAnswerBytes: 1_000, maxClients: 1 });
  const accessOf = (account: string) => ({
    region: "eu-west-1",
    endpoint: server.endpoint.href,
    identity: { type: "placeholder", accountId: account } as const,
  });
  const heldCall = clients.invoke(accessOf("000000000001"), { ...input, FunctionName: "held" }, optionsOf());
  const finish = await held.promise;
  await clients.invoke(accessOf("000000000002"), input, optionsOf());
  expect(clients.size).toBe(1);
  finish();
  expect((await heldCall).Payload?.transformToString()).toBe('"late"');
});
