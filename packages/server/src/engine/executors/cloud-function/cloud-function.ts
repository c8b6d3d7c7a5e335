import type { InvokeCommandInput } from "@aws-sdk/client-lambda";
import { failed } from "../call-failure.ts";
import {
  type CallExecutor,
  type CallRequest,
  type CallResult,
  type ExecutorDescription,
  maxTimerMs,
} from "../executor.ts";
import { readAnswer } from "./cloud-function-answer.ts";
import { LambdaClients } from "./cloud-function-clients.ts";
import { failureOf } from "./cloud-function-failure.ts";
import type { CloudFunctionSettings } from "./cloud-function-settings.ts";
import {
  checkConfig,
  configSchema,
  disallowedConfigFields,
  type FunctionTarget,
  targetOf,
  timeoutMsOf,
} from "./cloud-function-target.ts";

/** `/service/cloud/function`: invokes an AWS Lambda function with the step's input and waits for its answer. */
export function cloudFunction(settings: CloudFunctionSettings): CallExecutor & ExecutorDescription {
  const clients = new LambdaClients({ maxAnswerBytes: Math.max(settings.maxOutputBytes, maxErrorBytes) });
  return {
    type: "/service/cloud/function",
    title: "Cloud function",
    summary: "Invokes an AWS Lambda function with the step's input; the output is the function's answer.",
    behaviour: "call",
    configSchema,
    disallowedConfigFields: disallowedConfigFields(settings),
    checkConfig: (config) => checkConfig(config, settings),
    timeoutMsOf,
    call: (request, signal) => invoke(request, signal, clients, settings),
    close: () => clients.close(),
  };
}

/**
 * The bound on an error that a function returns. An error carries a stack trace, so it may be larger than a small `maxOutputBytes`, but should still
 * be reported as that error.
 */
const maxErrorBytes = 256 * 1024;

/**
 * The SDK's timeout is longer than the attempt's timeout by this margin. Normally the signal ends the call first. The SDK's timeout is for callers
 * whose signal has no timeout. The margin keeps it from cutting off an answer that arrived just in time.
 */
const requestTimeoutMarginMs = 200;

/** The largest client context that Lambda accepts, as the length of its base64 text. */
const maxClientContextLength = 3_583;

async function invoke(
  request: CallRequest,
  signal: AbortSignal,
  clients: LambdaClients,
  settings: CloudFunctionSettings,
): Promise<CallResult> {
  // The config is checked again because the operator may have withdrawn a permission since the version was registered.
  const [problem] = checkConfig(request.config, settings);
  if (problem !== undefined) return refuse(`In the step's config ${problem.pointer} ${problem.detail}.`);
  const clientContext = clientContextOf(request);
  if (clientContext.length > maxClientContextLength) {
    return refuse("The step's name is too long to be sent to a function. Use a shorter name.");
  }
  const target = targetOf(request.config, request.organizationId, settings);
  try {
    const answer = await clients.invoke(target.access, invocationOf(request, target, clientContext), {
      abortSignal: signal,
      requestTimeout: Math.min(request.timeoutMs + requestTimeoutMarginMs, maxTimerMs),
    });
    return readAnswer(answer, settings);
  } catch (error) {
    return failureOf(error, { target, signal, timeoutMs: request.timeoutMs });
  }
}

function refuse(message: string): CallResult {
  return failed("permanent", { code: "ExecutorError", message });
}

function invocationOf(request: CallRequest, target: FunctionTarget, clientContext: string): InvokeCommandInput {
  return {
    FunctionName: target.functionName,
    Qualifier: target.qualifier,
    InvocationType: "RequestResponse",
    ClientContext: clientContext,
    Payload: Buffer.from(JSON.stringify(request.input)),
  };
}

/** Lambda's runtimes hand `custom` to the function as `context.clientContext.custom` (in Python `context.client_context.custom`). */
function clientContextOf({ jobId, organizationId, stepName, attempt, idempotencyKey }: CallRequest): string {
  const custom = { jobId, organizationId, stepName, attempt, idempotencyKey };
  return Buffer.from(JSON.stringify({ custom })).toString("base64");
}
