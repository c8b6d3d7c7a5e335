import { hash } from "node:crypto";
import type { FastifyRequest, onRequestHookHandler } from "fastify";
import { ServiceError } from "../../core/service-error.ts";

const idempotencyHeader = "idempotency-key";

/** Generated clients of REST-JSON services send the same UUID with each try of a request, and the number of the try in a second header. */
const invocationHeader = "amz-sdk-invocation-id";
const attemptHeader = "amz-sdk-request";

export interface RequestKey {
  readonly key: string;
  readonly requestHash: Buffer;
}

/** Returns the key that identifies a repetition, and the hash of the whole request; undefined when no header of the request gives a key. */
export function requestKeyOf(request: FastifyRequest): RequestKey | undefined {
  const key = request.headers[idempotencyHeader];
  if (key === undefined) return derivedKey(request);
  if (typeof key !== "string" || !/^[!-~]{1,255}$/.test(key)) {
    throw new ServiceError(
      "ValidationError",
      "Idempotency-Key must be 1 to 255 visible ASCII characters, without spaces.",
    );
  }
  return { key, requestHash: hashOf(request) };
}

/** True when `requestKeyOf` may need the hash of the body. */
export function mayHaveKey({ headers }: FastifyRequest): boolean {
  return headers[idempotencyHeader] !== undefined || headers[invocationHeader] !== undefined;
}

/** Returns how many times the client has sent this request, this time included; 0 when the client does not count. */
export function attemptOf({ headers }: FastifyRequest): number {
  return Number(/^attempt=(\d{1,9})(?:;|$)/.exec(String(headers[attemptHeader]))?.[1] ?? 0);
}

/** Rejects a key that the operation does not honour, so that no change ignores a key. A read ignores it. */
export const rejectKey: onRequestHookHandler = (request, _reply, done) => {
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (isRead || request.headers[idempotencyHeader] === undefined) return done();
  throw new ServiceError("ValidationError", "This operation takes no Idempotency-Key. Leave the header out.");
};

/**
 * Derives the key from a hash of the UUID in the header, the whole request and its caller. So another request with the same UUID has another key, and
 * a caller who sends somebody else's UUID does not get that person's answer. The key begins with a space, so no client can send it. The UUID is not
 * stored: otherwise somebody who reads the UUID and the hash could guess a password in the body.
 */
function derivedKey(request: FastifyRequest): RequestKey | undefined {
  const invocationId = request.headers[invocationHeader];
  if (typeof invocationId !== "string" || !uuid.test(invocationId)) return undefined;
  const requestHash = hashOf(request, invocationId.toLowerCase());
  return { key: ` ${requestHash.toString("base64url")}`, requestHash };
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function hashOf(request: FastifyRequest, invocationId?: string): Buffer {
  const { principal } = request.caller;
  // `waitSeconds` has an effect on the time at which the answer is sent, but not on what is done.
  const { waitSeconds: _, ...query } = request.query as Readonly<Record<string, unknown>>;
  const asked = [
    request.routeOptions.schema?.operationId,
    request.params,
    principal.type,
    principal.id,
    request.bodyHash,
    ...(Object.keys(query).length === 0 ? [] : [query]),
    ...(invocationId === undefined ? [] : [invocationId]),
    ...preconditionsOf(request),
  ];
  return hash("sha256", JSON.stringify(asked), "buffer");
}

function preconditionsOf({ headers }: FastifyRequest): object[] {
  const { "if-match": ifMatch, "if-none-match": ifNoneMatch } = headers;
  return ifMatch === undefined && ifNoneMatch === undefined ? [] : [{ ifMatch, ifNoneMatch }];
}
