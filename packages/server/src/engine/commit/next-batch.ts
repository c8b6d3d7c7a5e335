import type { Parking } from "../plans/parking.ts";
import type { Command } from "./command.ts";
import type { Held } from "./held.ts";
import type { Turns } from "./turns.ts";

/** A command that waits in the queue of a group. */
export interface Queued {
  readonly command: Command;
  /** Undefined until the command was held up by a row that another transaction has locked. */
  readonly held?: Held;
}

export interface NextBatchOptions {
  readonly turns: Turns;
  readonly parking: Parking;
  readonly maxBatchSize: number;
  readonly maxBatchBytes: number;
  /** Whether the batch before had only commands of costly organizations while commands of other organizations waited. */
  readonly wasCostly: boolean;
}

export interface NextBatch<One> {
  readonly batch: readonly One[];
  /** The commands that stay in the queue, in its order. */
  readonly left: readonly One[];
  /** The commands of each organization that rests, in their order, and the milliseconds until they may come back. */
  readonly resting: ReadonlyMap<string, { readonly commands: readonly One[]; readonly restMs: number }>;
  /** Whether the batch has only commands of costly organizations while commands of other organizations wait. */
  readonly isCostly: boolean;
}

/**
 * Takes commands in the order of arrival, up to the bounds. The number of jobs of one organization in the batch is limited too (`Turns.roomOf`). A
 * second command with the same idempotency key waits for the next batch. A command has a batch of its own if its job was parked and has not gone on
 * since, or if it must wait for a locked row: in a common batch, the other commands might fail with it. Organizations that recently had costly
 * commands take turns with the other organizations. So a cheap command does not wait for all costly commands that came before it.
 */
export function takeNextBatch<One extends Queued>(queue: readonly One[], options: NextBatchOptions): NextBatch<One> {
  const { turns, parking, maxBatchSize, maxBatchBytes } = options;
  const takesCostly = hasBoth(queue, turns) ? !options.wasCostly : undefined;
  const batch: One[] = [];
  const left: One[] = [];
  const resting = new Map<string, { readonly commands: One[]; readonly restMs: number }>();
  const keys = new Set<string>();
  const jobIds = new Set<string>();
  const takenJobs = new Map<string, number>();
  let bytes = 0;
  let isFull = false;
  for (const one of queue) {
    const { command } = one;
    const { organizationId, idempotency } = command;
    const known = resting.get(organizationId);
    if (known !== undefined) {
      known.commands.push(one);
      continue;
    }
    const restMs = turns.restMs(organizationId);
    if (restMs > 0) {
      resting.set(organizationId, { commands: [one], restMs });
      continue;
    }
    // The loop goes on when the batch is full: if one command of an organization rests, all commands of this organization must rest, or their order
    // would change.
    isFull ||= batch.length >= maxBatchSize || (batch.length > 0 && bytes + command.bytes > maxBatchBytes);
    if (isFull) {
      left.push(one);
      continue;
    }
    const key = idempotency === undefined ? undefined : `${organizationId} ${idempotency.key}`;
    const isOnTrial = one.held?.isWaitedFor === true || parking.isOnTrial(command.jobId);
    const isNewJob = !jobIds.has(command.jobId);
    const takenOfOrganization = takenJobs.get(organizationId) ?? 0;
    const isOthersTurn = takesCostly !== undefined && turns.isCostly(organizationId) !== takesCostly;
    const hasRoom = !isNewJob || takenOfOrganization < turns.roomOf(organizationId);
    if (isOthersTurn || !hasRoom || (key !== undefined && keys.has(key)) || (isOnTrial && batch.length > 0)) {
      left.push(one);
      continue;
    }
    if (key !== undefined) keys.add(key);
    if (isNewJob) takenJobs.set(organizationId, takenOfOrganization + 1);
    jobIds.add(command.jobId);
    batch.push(one);
    bytes += command.bytes;
    if (isOnTrial) isFull = true;
  }
  return { batch, left, resting, isCostly: takesCostly === true };
}

/** Counts the jobs of each organization in a batch. */
export function jobCountsOf(batch: readonly Queued[]): ReadonlyMap<string, number> {
  const jobs = new Map(batch.map(({ command: { organizationId, jobId } }) => [jobId, organizationId]));
  const counts = new Map<string, number>();
  for (const organizationId of jobs.values()) counts.set(organizationId, (counts.get(organizationId) ?? 0) + 1);
  return counts;
}

/** Whether the queue has commands to decide now, some of costly organizations and some of others. */
function hasBoth(queue: readonly Queued[], turns: Turns): boolean {
  if (!turns.hasCostly()) return false;
  const found = new Set<boolean>();
  for (const { command } of queue) {
    if (turns.restMs(command.organizationId) === 0) found.add(turns.isCostly(command.organizationId));
    if (found.size === 2) return true;
  }
  return false;
}
