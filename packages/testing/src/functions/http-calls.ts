import { readConfig } from "../../../server/src/config.ts";
import type { JsonObject, JsonValue } from "../../../server/src/core/json/json.ts";
import type { CallFailure, CallRequest, CallResult } from "../../../server/src/engine/executors/executor.ts";
import { http } from "../../../server/src/engine/executors/http/http.ts";
import type { HttpSettings } from "../../../server/src/engine/executors/http/http-settings.ts";
import type { ResolveHost } from "../../../server/src/engine/outbound/guarded-connector.ts";
import { requestOf } from "./calls.ts";

/** The service's default settings, except that a step may call this machine. */
export const localSettings: HttpSettings = readConfig({
  STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES: "127.0.0.0/8,localhost",
});

/** The service's default settings, with which a step may not call this machine. */
export const defaultSettings: HttpSettings = readConfig({});

export interface HttpCall extends Omit<Partial<CallRequest>, "config"> {
  readonly signal?: AbortSignal;
  readonly settings?: HttpSettings;
  readonly resolve?: ResolveHost;
}

export async function callHttp(config: JsonObject, call: HttpCall = {}): Promise<CallResult> {
  const { signal = new AbortController().signal, settings = localSettings, resolve, ...request } = call;
  const executor = http(settings, resolve);
  try {
    return await executor.call(requestOf({ ...request, config }), signal);
  } finally {
    executor.close?.();
  }
}

/** The output of a call that must succeed. */
export async function outputOf(config: JsonObject, call?: HttpCall): Promise<Record<string, JsonValue>> {
  const result = await callHttp(config, call);
  if (result.type === "failed") throw new Error(result.error.message);
  return result.output as JsonObject;
}

/** The failure of a call that must fail. */
export async function failureOf(config: JsonObject, call?: HttpCall): Promise<CallFailure> {
  const result = await callHttp(config, call);
  if (result.type === "succeeded") throw new Error(`It succeeded: ${JSON.stringify(result.output)}`);
  return result;
}
