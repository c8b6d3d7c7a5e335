import type { InvokeCommandOutput } from "@aws-sdk/client-lambda";
import { type JsonValue, parseJson } from "../../../core/json/json.ts";
import { bounded, failed } from "../call-failure.ts";
import type { CallResult } from "../executor.ts";
import { answerTooLarge } from "./cloud-function-failure.ts";
import type { CloudFunctionSettings } from "./cloud-function-settings.ts";

type AnswerLimits = Pick<CloudFunctionSettings, "maxOutputBytes" | "maxJsonDepth" | "maxNameLength">;

/** Reads the answer to a call. Lambda sends status 200 even when the function failed: only `FunctionError` shows that. */
export function readAnswer(
  answer: Pick<InvokeCommandOutput, "FunctionError" | "Payload">,
  limits: AnswerLimits,
): CallResult {
  const payload = answer.Payload ?? new Uint8Array();
  if (answer.FunctionError !== undefined) return functionFailure(payload, limits.maxNameLength);
  if (payload.byteLength > limits.maxOutputBytes) return answerTooLarge(limits.maxOutputBytes);
  if (payload.byteLength === 0) return { type: "succeeded", output: null };
  return outputOf(payload, limits.maxJsonDepth);
}

/**
 * Parses a function's output. An unusable output is a permanent failure: the function has done its work, and a second call would give the same
 * output.
 */
function outputOf(payload: Uint8Array, maxDepth: number): CallResult {
  const text = decode(payload);
  if (text === undefined) return unusable("is not UTF-8");
  const parsed = parseJson(text, { maxDepth });
  if ("value" in parsed) return { type: "succeeded", output: parsed.value };
  const { pointer, detail } = parsed.problem;
  return unusable(`cannot be read as JSON: ${pointer === "" ? detail : `at ${pointer}: ${detail}`}`);
}

function unusable(reason: string): CallResult {
  return failed("permanent", { code: "ExecutorError", message: bounded(`The function's answer ${reason}.`) });
}

/** Makes a failure with the type and the message that the function gave. The stack trace is left out: it belongs in the function's own log. */
function functionFailure(payload: Uint8Array, maxTypeLength: number): CallResult {
  const { errorType, errorMessage } = errorFields(payload);
  const message = bounded(errorMessage ?? "The function failed without a message. Look at its log.");
  if (isOutOfTime(errorType, errorMessage)) return failed("ordinary", { code: "Timeout", message });
  const type = errorType === undefined || errorType === "" ? {} : { type: bounded(errorType, maxTypeLength) };
  return failed("ordinary", { code: "ExecutorError", message, ...type });
}

interface ErrorFields {
  readonly errorType?: string | undefined;
  readonly errorMessage?: string | undefined;
}

/** Reads the fields of an unhandled error, which can be anything that a custom runtime sends. */
function errorFields(payload: Uint8Array): ErrorFields {
  try {
    const error: JsonValue = JSON.parse(decode(payload) ?? "null");
    if (typeof error === "string") return { errorMessage: error };
    if (typeof error !== "object" || error === null || Array.isArray(error)) return {};
    return { errorType: textOf(error.errorType), errorMessage: textOf(error.errorMessage) };
  } catch {
    return {};
  }
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/**
 * Whether the function ran into its time limit. Today Lambda reports this with an error type, which it did not do earlier. The emulator
 * serverless-offline has a form of its own.
 */
function isOutOfTime(errorType: string | undefined, errorMessage = ""): boolean {
  if (errorType === "Sandbox.Timedout") return true;
  if (errorType === undefined) return /Task timed out after [0-9.]+ seconds/.test(errorMessage);
  return errorType === "Error" && errorMessage === "[504] - Lambda timeout.";
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
