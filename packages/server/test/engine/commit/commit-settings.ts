import type { Config } from "../../../src/config.ts";
import type { GroupCommitOptions } from "../../../src/engine/commit/group-commit.ts";

/** The settings of a group commit that runs beside a service. It has capacity for everything. */
export function commitSettings(config: Config) {
  return {
    maxBatchSize: config.maxBatchSize,
    maxBatchBytes: config.maxBatchBytes,
    maxDescendantsPerJob: config.maxDescendantsPerJob,
    maxQueuedFacts: config.maxQueuedFacts,
    maxQueuedFactsPerOrganization: config.maxQueuedFactsPerOrganization,
    commitTimeoutMs: config.commitTimeoutMs,
    idempotencyHours: config.idempotencyHours,
    hasRoomForCall: () => true,
    storeFullError: () => undefined,
    beginsAtOnce: () => () => true,
    leaseTerm: () => 1,
  } satisfies Partial<GroupCommitOptions>;
}
