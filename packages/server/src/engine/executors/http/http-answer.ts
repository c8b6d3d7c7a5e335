import type { JsonObject } from "../../../core/json/json.ts";
import { bounded, failed } from "../call-failure.ts";
import type { CallFailure, CallResult } from "../executor.ts";
import { BodyTooLargeError, beginningOf, readBody } from "./http-body.ts";
import type { HttpConfig } from "./http-config.ts";
import { contentOf, readableText } from "./http-content.ts";
import type { HttpAnswer } from "./http-exchange.ts";
import { isSuccess, placeOf } from "./http-request.ts";
import { retryAfterMsOf } from "./http-retry-after.ts";
import type { HttpSettings } from "./http-settings.ts";

/** The schema of the output of every HTTP step. */
export const answerSchema: JsonObject = {
  type: "object",
  properties: {
    status: { type: "integer", minimum: 100, maximum: 999 },
    headers: {
      type: "object",
      properties: { "set-cookie": { type: "array", items: { type: "string" } } },
      additionalProperties: { type: "string" },
    },
    body: {},
  },
  required: ["status", "headers", "body"],
  additionalProperties: false,
};

/** Reads the answer to a step's request. The status of the answer decides whether the result is an output or a failure. */
export async function readAnswer(answer: HttpAnswer, config: JsonObject, settings: HttpSettings): Promise<CallResult> {
  const { request, response } = answer;
  const { statusCode, headers } = response;
  if (!isSuccess(statusCode, request.successStatus)) return await statusFailure(answer);
  // The operator may have lowered the service's own bound since the version was registered.
  const { maxBytes = settings.maxOutputBytes } = config as JsonObject & HttpConfig;
  const bytes = await readBody(response, Math.min(maxBytes, settings.maxOutputBytes));
  const body = contentOf(bytes, textOf(headers["content-type"]), settings.maxJsonDepth);
  const output = { status: statusCode, headers: outputHeaders(headers), body };
  // The length is checked again as JSON, where one character may take six bytes.
  if (Buffer.byteLength(JSON.stringify(output)) > settings.maxOutputBytes)
    throw new BodyTooLargeError(settings.maxOutputBytes, "answered with data that makes an output");
  return { type: "succeeded", output };
}

type Headers = HttpAnswer["response"]["headers"];

/**
 * Makes the headers of the output. A header that occurs several times is joined into one text, as in HTTP; only `set-cookie` is always a list,
 * because its values contain commas. `__proto__` is left out: it is a valid header name, but our JSON never has it as a name.
 */
function outputHeaders(headers: Headers): JsonObject {
  const entries = Object.entries(headers).filter(([name]) => name !== "__proto__");
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const values = Array.isArray(value) ? value : [value ?? ""];
      return [name, name === "set-cookie" ? values : values.join(", ")];
    }),
  );
}

/**
 * - `transient`: the other side says that it did not accept the request.
 * - `ordinary`: another attempt may succeed; the request may have been carried out.
 * - `permanent` (every other status): the same request would get the same answer.
 */
const kinds: ReadonlyMap<number, CallFailure["kind"]> = new Map([
  [408, "ordinary"],
  [425, "ordinary"],
  [429, "transient"],
  [500, "ordinary"],
  [502, "ordinary"],
  [503, "transient"],
  [504, "ordinary"],
]);

async function statusFailure({ request, response }: HttpAnswer): Promise<CallFailure> {
  const { statusCode, headers } = response;
  const shown = bounded(
    readableText(await beginningOf(response), textOf(headers["content-type"])).trim(),
    maxShownLength,
  );
  const message = `${placeOf(request)} answered with status ${statusCode}${shown === "" ? "" : `: ${shown}`}`;
  const retryAfterMs = retryAfterMsOf(textOf(headers["retry-after"]), Date.now());
  const failure = failed(kinds.get(statusCode) ?? "permanent", {
    code: "ExecutorError",
    message,
    type: `HttpStatus${statusCode}`,
  });
  return retryAfterMs === undefined ? failure : { ...failure, retryAfterMs };
}

const maxShownLength = 500;

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header : header?.[0];
}
