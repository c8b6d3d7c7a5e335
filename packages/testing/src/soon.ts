import { timeLimit } from "./time-limit.ts";

/**
 * When one node ends a credential or a permission, no node accepts it after a second. This limit leaves time for a busy machine, and is far below the
 * minute for which caches last.
 */
export const secondWithSlackMs = timeLimit(4_000);
