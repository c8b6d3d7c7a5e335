import { isJsonObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import { type Problem, pointerTo, quoted } from "../../../core/problem.ts";
import type { AddressRule } from "../../outbound/address-rule.ts";

export function configSchema(maxOutputBytes: number): JsonObject {
  const scalar = [{ type: "string" }, { type: "number" }, { type: "boolean" }];
  return {
    type: "object",
    properties: {
      url: {
        description: "The address to call: http or https, without a user or a password.",
        type: "string",
        maxLength: maxUrlLength,
      },
      method: {
        description: "The method; by default GET.",
        enum: [...methods],
      },
      headers: {
        description: "Headers of the request, by name. A header whose value is null is not sent.",
        type: "object",
        additionalProperties: { anyOf: [...scalar, { type: "null" }] },
      },
      query: {
        description:
          "Parameters to add to the query of the url, by name. If a value is a list, the parameter is added once for each item. A parameter whose value is null is not added.",
        type: "object",
        additionalProperties: { anyOf: [...scalar, { type: "null" }, { type: "array", items: { anyOf: scalar } }] },
      },
      body: {
        description: "The body: a text is sent as it is, any other value as JSON. By default no body is sent.",
      },
      successStatus: {
        description: "The statuses with which the step succeeds, such as 200 or 2xx; by default 2xx.",
        type: "array",
        items: { anyOf: [{ type: "integer", minimum: 200, maximum: 599 }, { enum: ["2xx", "3xx", "4xx", "5xx"] }] },
        minItems: 1,
        maxItems: 20,
      },
      maxBytes: {
        description: "The size of the answer's body above which the step fails.",
        type: "integer",
        minimum: 1,
        maximum: maxOutputBytes,
      },
    },
    required: ["url"],
    additionalProperties: false,
  };
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;
export type HttpMethod = (typeof methods)[number];

/** A config that fits `configSchema`. A value that came from an expression may be of any type until `configProblems` has checked it. */
export interface HttpConfig {
  readonly url: JsonValue;
  readonly method?: HttpMethod;
  readonly headers?: JsonValue;
  readonly query?: JsonValue;
  readonly body?: JsonValue;
  readonly successStatus?: readonly (number | string)[];
  readonly maxBytes?: number;
}

/**
 * Lists the reasons why a config makes no valid request, or why its address may not be called. A value that may come from an expression is checked
 * only if `isKnown` accepts it. By default it accepts every value, which is right when the expressions have been replaced by their values.
 */
export function configProblems(
  config: JsonObject,
  rule: AddressRule,
  isKnown: (value: JsonValue) => boolean = () => true,
): readonly Problem[] {
  const { url, method = "GET", headers = {}, query = {}, body } = config as JsonObject & HttpConfig;
  const problems: Problem[] = [];
  const add = (pointer: string, detail: string | undefined) => {
    if (detail !== undefined) problems.push({ pointer, detail });
  };
  if (isKnown(url)) add("/url", urlProblem(url, rule));
  if (isJsonObject(headers)) problems.push(...headerProblems(headers, isKnown));
  else if (isKnown(headers)) add("/headers", notAnObject);
  if (isJsonObject(query)) problems.push(...queryProblems(query, isKnown));
  else if (isKnown(query)) add("/query", notAnObject);
  if (body !== undefined && (method === "GET" || method === "HEAD")) {
    add("/body", `cannot be sent with ${method}: use POST, PUT or PATCH, or put the values into \`query\``);
  }
  return problems;
}

const notAnObject = "must be an object with a value for each name";

function headerProblems(headers: JsonObject, isKnown: (value: JsonValue) => boolean): readonly Problem[] {
  const entries = Object.entries(headers);
  if (entries.length > maxHeaders) return [{ pointer: "/headers", detail: `has more than ${maxHeaders} headers` }];
  return entries.flatMap(([name, value]) => {
    const details = [headerNameProblem(name, headers), isKnown(value) ? headerValueProblem(value) : undefined];
    return problemsAt(pointerTo("/headers", name), details);
  });
}

function queryProblems(query: JsonObject, isKnown: (value: JsonValue) => boolean): readonly Problem[] {
  const entries = Object.entries(query);
  const count = entries.reduce((sum, [, value]) => sum + (Array.isArray(value) ? value.length : 1), 0);
  if (count > maxParameters) return [{ pointer: "/query", detail: `has more than ${maxParameters} values` }];
  return entries.flatMap(([name, value]) =>
    problemsAt(pointerTo("/query", name), [isKnown(value) ? parameterProblem(value) : undefined]),
  );
}

function problemsAt(pointer: string, details: readonly (string | undefined)[]): readonly Problem[] {
  return details.flatMap((detail) => (detail === undefined ? [] : { pointer, detail }));
}

function urlProblem(value: JsonValue, rule: AddressRule): string | undefined {
  if (typeof value !== "string") return "must be a text";
  if (value.length > maxUrlLength) return `is longer than ${maxUrlLength} characters`;
  // `URL` would silently remove or encode these characters.
  if (/[\0-\x20\x7f]/.test(value))
    return "contains a space or a control character: percent-encode the values that are put into it";
  const url = URL.parse(value);
  return url === null ? "is not an address; give one such as https://api.example.com/orders" : rule.problemOf(url);
}

function headerNameProblem(name: string, headers: JsonObject): string | undefined {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name))
    return "is not the name of a header: use letters, digits and hyphens";
  const lowerName = name.toLowerCase();
  if (ownHeaders.has(lowerName)) return "is a header that a step cannot set; leave it out";
  const isRepeated = Object.keys(headers).some((other) => other !== name && other.toLowerCase() === lowerName);
  return isRepeated ? `occurs twice: ${quoted(lowerName)} is the same header in upper and lower case` : undefined;
}

/** Headers that a config may not set. They say where a message ends or to which host it goes, or they belong to the connection. */
const ownHeaders = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Says what is wrong with the value of a header. A line break is wrong because the text after it would be read as another header or as the body. */
function headerValueProblem(value: JsonValue): string | undefined {
  if (!isScalar(value)) return "must be a text, a number, true, false or null";
  if (String(value).length > maxHeaderLength) return `is longer than ${maxHeaderLength} characters`;
  if (/^[\t\x20-\x7e\xa0-\xff]*$/.test(String(value))) return undefined;
  return "contains a line break or another character that no header can have: encode the value, for example in base64";
}

function parameterProblem(value: JsonValue): string | undefined {
  const isListed = Array.isArray(value) && value.every((item) => isScalar(item) && item !== null);
  return isListed || isScalar(value) ? undefined : "must be a text, a number, true or false, a list of these, or null";
}

function isScalar(value: JsonValue): value is string | number | boolean | null {
  return !Array.isArray(value) && !isJsonObject(value);
}

const maxUrlLength = 8_192;
const maxHeaders = 100;
const maxParameters = 1_000;
const maxHeaderLength = 8_192;
