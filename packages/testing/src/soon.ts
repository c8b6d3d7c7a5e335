import { timeLimit } from "./time-limit.ts";

/** One second after a node has ended a credential or a permission, no node accepts it any more. This limit leaves time for a busy machine. */
export const secondWithSlackMs = timeLimit(4_000);
