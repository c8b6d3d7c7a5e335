import { readConfig } from "../../../server/src/config.ts";
import type { JsonObject } from "../../../server/src/core/json/json.ts";
import { cloudFunction } from "../../../server/src/engine/executors/cloud-function/cloud-function.ts";
import type { CloudFunctionSettings } from "../../../server/src/engine/executors/cloud-function/cloud-function-settings.ts";
import type { CallRequest, CallResult } from "../../../server/src/engine/executors/executor.ts";

export const accountId = "123456789012";

/** The service's defaults. */
export const settings: CloudFunctionSettings = readConfig({});

export interface Call extends Partial<CallRequest> {
  readonly signal?: AbortSignal;
}

export const configOf = (functionName: string, more: JsonObject = {}): JsonObject => ({
  region: "eu-west-1",
  accountId,
  functionName,
  ...more,
});

/** Returns the request of the first attempt of a step that calls a function. The fields of `call` replace those of the request. */
export function requestOf({ signal: _, ...call }: Call): CallRequest {
  return {
    organizationId: "019aa0e7-0000-7000-8000-00000000000a",
    jobId: "019aa0e7-0000-7000-8000-0000000000b1",
    stepName: "reserve-stock",
    visit: 1,
    attempt: 1,
    idempotencyKey: "019aa0e7-0000-7000-8000-0000000000b1:reserve-stock:1",
    config: configOf("echo"),
    input: { sku: "a-1" },
    timeoutMs: 5_000,
    ...call,
  };
}

export async function callOnce(own: Partial<CloudFunctionSettings>, call: Call = {}): Promise<CallResult> {
  const executor = cloudFunction({ ...settings, ...own });
  try {
    return await executor.call(requestOf(call), call.signal ?? new AbortController().signal);
  } finally {
    executor.close?.();
  }
}
