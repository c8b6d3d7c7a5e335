import type { FastifyRequest, onRequestHookHandler } from "fastify";
import { Type } from "typebox";
import { ServiceError } from "../../core/service-error.ts";
import type { Precondition } from "../../management/act/precondition.ts";

const ifMatch = Type.Optional(
  Type.String({
    description:
      "The ETag of the state that you read. The change is made only while the thing is in that state; otherwise the answer is 412, and nothing is done. With `*`, it is enough that the thing exists.",
    example: '"dGhlIHN0YXRlIHlvdSByZWFk"',
  }),
);

/**
 * Declared by an operation that changes a thing with an ETag and cannot create it. A change that declares no If-Match rejects the header
 * (`rejectPrecondition`).
 */
export const PreconditionHeaders = Type.Object({ "If-Match": ifMatch });

/** Declared by an operation that can both change and create a thing with an ETag. */
export const CreatingPreconditionHeaders = Type.Object({
  "If-Match": ifMatch,
  "If-None-Match": Type.Optional(
    Type.String({
      pattern: "^\\*$",
      description:
        "Send the value `*`: the thing is then created, but an existing one is not changed. If it exists already, the answer is 412, and nothing is done.",
      example: "*",
    }),
  ),
});

/** Returns undefined when the request has no precondition. Throws 400 for a malformed header. */
export function preconditionOf({ headers }: FastifyRequest): Precondition | undefined {
  const { "if-match": match, "if-none-match": noneMatch } = headers;
  if (match === undefined && noneMatch === undefined) return undefined;
  if (noneMatch !== undefined && noneMatch.trim() !== "*") {
    throw new ServiceError("ValidationError", "If-None-Match of a change must be `*`. Use If-Match for an ETag.");
  }
  return { ifMatch: match === undefined ? undefined : readTags(match.trim()), ifNone: noneMatch !== undefined };
}

/** Rejects a precondition that the operation does not check: a client that sends one believes that the change is safe. */
export function rejectPrecondition(declared: object | undefined): onRequestHookHandler | undefined {
  const refused = ["If-Match", "If-None-Match"].filter((name) => !(name in (declared ?? {})));
  if (refused.length === 0) return undefined;
  return (request, _reply, done) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    const found = isRead ? undefined : refused.find((name) => request.headers[name.toLowerCase()] !== undefined);
    if (found === undefined) return done();
    throw new ServiceError("ValidationError", `This operation takes no ${found}. Leave the header out.`);
  };
}

/**
 * Reads the ETags without the marks of weak ones. A proxy that compresses an answer marks its ETag as weak. The service's ETags stand for a state and
 * not for bytes, so the mark makes no difference.
 */
function readTags(text: string): readonly string[] | "any" {
  if (text === "*") return "any";
  if (!listForm.test(text)) {
    throw new ServiceError(
      "ValidationError",
      'If-Match must be an ETag as an answer gave it, with its quotes (If-Match: "abc"), or several such ETags with commas between them, or `*`.',
    );
  }
  return [...text.matchAll(/"[^"]*"/g)].map(([tag]) => tag);
}

const listForm = /^(?:W\/)?"[!#-~]*"(?:\s*,\s*(?:W\/)?"[!#-~]*")*$/;
