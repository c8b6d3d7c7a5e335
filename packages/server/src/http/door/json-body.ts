import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { isJsonObject, type JsonObject, parseJson } from "../../core/json/json.ts";
import { sentence } from "../../core/problem.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { App } from "./app.ts";
import { mayHaveKey } from "./request-key.ts";

/** Accepts only JSON objects as bodies, in UTF-8. JSON that could not be stored as it is, or that other code would misread, is rejected here. */
export function parseJsonBodies(app: App, maxDepth: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    try {
      checkEncoding(request);
      request.bodyBytes = body.length;
      if (mayHaveKey(request)) request.bodyHash = hash("sha256", body);
      done(null, body.length === 0 ? undefined : parseBody(body, maxDepth));
    } catch (error) {
      done(error as Error);
    }
  });
}

function checkEncoding({ headers }: FastifyRequest): void {
  const contentEncoding = headers["content-encoding"];
  if (contentEncoding !== undefined && contentEncoding !== "identity") {
    throw new ServiceError("UnsupportedMediaTypeError", "Send the body as it is, without Content-Encoding.");
  }
  const contentType = headers["content-type"];
  if (contentType === "application/json") return;
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType ?? "")?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new ServiceError("UnsupportedMediaTypeError", "Send the body in UTF-8, which is the only charset of JSON.");
  }
}

function parseBody(body: Buffer, maxDepth: number): JsonObject {
  if (!isUtf8(body)) throw new ServiceError("ValidationError", "The body is not valid UTF-8.");
  const parsed = parseJson(body.toString("utf8"), { maxDepth });
  if ("problem" in parsed) {
    const { pointer, detail } = parsed.problem;
    const where = pointer === "" ? "" : ` at ${pointer}`;
    const message = sentence(`The body is not usable${where}: ${detail}`);
    throw new ServiceError("ValidationError", message, { problems: [{ pointer, detail }] });
  }
  if (!isJsonObject(parsed.value)) {
    const problems = [{ pointer: "", detail: "must be an object" }];
    throw new ServiceError("ValidationError", "The body must be a JSON object.", { problems });
  }
  return parsed.value;
}
