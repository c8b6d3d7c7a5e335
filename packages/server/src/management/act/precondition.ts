import { hash } from "node:crypto";
import type { JsonObject } from "../../core/json/json.ts";
import { ServiceError } from "../../core/service-error.ts";

/** The state of a thing that the caller expects. The change is made only in that state. */
export interface Precondition {
  /** The entity tags of If-Match, as `etagOf` makes them; `any` when the thing must exist, in any state. */
  readonly ifMatch: readonly string[] | "any" | undefined;
  /** True when the thing must not exist yet. */
  readonly ifNone: boolean;
}

/**
 * Throws 412 unless the thing meets the caller's precondition. `etag` is undefined if there is no such thing. Call it with what was read under the
 * lock of the change. If two callers have read the same state, one then succeeds and the other gets 412.
 */
export function requireUnchanged(
  { precondition }: { readonly precondition: Precondition | undefined },
  kind: string,
  etag: string | undefined,
): void {
  const { ifMatch, ifNone = false } = precondition ?? {};
  if (ifNone && etag !== undefined) {
    throw failed(
      `The ${kind} exists already. Leave If-None-Match out to change it in any case, or send its ETag (${etag}) in If-Match to change it only if it is still the same.`,
    );
  }
  if (ifMatch === undefined) return;
  if (etag === undefined) {
    throw failed(
      `There is no such ${kind}, so it cannot have the state that If-Match names. Leave If-Match out to create it.`,
    );
  }
  if (ifMatch === "any" || ifMatch.includes(etag)) return;
  throw failed(
    `The ${kind} was changed after you read it, and nothing was done: its ETag is ${etag} now. Read it again, and send the change with that ETag in If-Match if you still want it. If you repeat a request whose answer was lost, the first attempt may have made the change.`,
  );
}

/** Makes the entity tag of a state, with its quotes. Equal states have the same tag. */
export function etagOf(state: JsonObject): string {
  return `"${hash("sha256", JSON.stringify(state), "base64url").slice(0, 22)}"`;
}

function failed(detail: string): ServiceError {
  return new ServiceError("PreconditionFailedError", detail);
}
