import type { Upkeep } from "../../store/home/database.ts";
import type { Duty } from "./duty.ts";

/**
 * Keeps the log of the embedded store short, because the log since the last checkpoint is replayed after a crash. A checkpoint is made only when the
 * log is long, because it blocks the process for as long as it takes to write and sync the changed pages.
 */
export function checkpointDuty(upkeep: Upkeep): Duty {
  return {
    name: "checkpoint",
    everyMs: 1_000,
    async runOnce() {
      await upkeep.checkpointAbove(mostLogBytes);
      return undefined;
    },
  };
}

const mostLogBytes = 32 * 1024 * 1024;
