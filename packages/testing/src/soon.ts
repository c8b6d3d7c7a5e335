import { timeLimit } from "./time-limit.ts";

/** A second, after which what one node ended holds on every node, and what a busy machine takes on top: still far from a minute's cache. */
export const secondWithSlackMs = timeLimit(4_000);
