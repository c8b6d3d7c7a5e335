import type { Timestamp } from "../../core/job/job-state.ts";
import { ServiceError } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";

/** Throws 400 for a token that would have expired already. */
export function requireFutureExpiry(expiresAt: Timestamp | null | undefined, now: Timestamp): void {
  if (expiresAt === undefined || expiresAt === null || expiresAt > now) return;
  const detail = `must be in the future; now it is ${toTime(now)}`;
  throw new ServiceError("ValidationError", `expiresAt ${detail}.`, { problems: [{ pointer: "/expiresAt", detail }] });
}
