import { timeLimit } from "./time-limit.ts";

/** All nodes know within a second what one node has ended. This limit leaves room for a busy machine, and is far below the minute of a cache. */
export const secondWithSlackMs = timeLimit(4_000);
