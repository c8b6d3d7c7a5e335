import { timeLimit } from "./time-limit.ts";

/**
 * When one node ends something, all nodes know it within a second. This limit leaves time for a busy machine, and is far below the minute for which
 * caches last.
 */
export const secondWithSlackMs = timeLimit(4_000);
