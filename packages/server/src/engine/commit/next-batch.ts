import type { Parking } from "../plans/parking.ts";
import type { Command } from "./command.ts";
import type { Held } from "./held.ts";
import type { Turns } from "./turns.ts";

/** A command that waits in the queue of a group. */
export interface Queued {
  readonly command: Command;
  /** Undefined until another transaction was found to hold a row that the command needs. */
  readonly held?: Held;
}

export interface NextBatchOptions {
  readonly turns: Turns;
  readonly parking: Parking;
  readonly maxBatchSize: number;
  readonly maxBatchBytes: number;
  /** Whether the batch before had only commands of costly organizations. */
  readonly wasCostly: boolean;
}

export interface NextBatch<One> {
  readonly batch: readonly One[];
  /** The rest of the queue, in its order. */
  readonly left: readonly One[];
  /** Commands of organizations that rest, with the milliseconds until they may come back. */
  readonly resting: readonly (readonly [One, number])[];
  /** Whether the batch has only commands of costly organizations, while others wait. */
  readonly isCostly: boolean;
}

/**
 * Takes commands in the order of arrival, up to the bounds, and from each organization as many as it has room for. A second command with the same
 * idempotency key waits for the next batch. A command for a job that failed alone goes alone from then on, so that other commands are not split off
 * again because of it. Organizations whose commands were costly lately and the others have batches in turn, so that a cheap command waits for a
 * costly one only if that has begun already.
 */
export function takeNextBatch<One extends Queued>(queue: readonly One[], options: NextBatchOptions): NextBatch<One> {
  const { turns, parking, maxBatchSize, maxBatchBytes } = options;
  const takesCostly = hasBoth(queue, turns) ? !options.wasCostly : undefined;
  const batch: One[] = [];
  const left: One[] = [];
  const resting: [One, number][] = [];
  const keys = new Set<string>();
  const taken = new Map<string, number>();
  let bytes = 0;
  for (const [index, one] of queue.entries()) {
    const { command } = one;
    const { organizationId, idempotency } = command;
    const restMs = turns.restMs(organizationId);
    if (restMs > 0) {
      resting.push([one, restMs]);
      continue;
    }
    if (batch.length >= maxBatchSize || (batch.length > 0 && bytes + command.bytes > maxBatchBytes)) {
      left.push(...queue.slice(index));
      break;
    }
    const key = idempotency === undefined ? undefined : `${organizationId} ${idempotency.key}`;
    const isOnTrial = one.held?.isWaitedFor === true || parking.isOnTrial(command.jobId);
    const takenOfOrganization = taken.get(organizationId) ?? 0;
    const isOthersTurn = takesCostly !== undefined && turns.isCostly(organizationId) !== takesCostly;
    const hasRoom = takenOfOrganization < turns.roomOf(organizationId);
    if (isOthersTurn || !hasRoom || (key !== undefined && keys.has(key)) || (isOnTrial && batch.length > 0)) {
      left.push(one);
      continue;
    }
    if (key !== undefined) keys.add(key);
    taken.set(organizationId, takenOfOrganization + 1);
    batch.push(one);
    bytes += command.bytes;
    if (isOnTrial) {
      left.push(...queue.slice(index + 1));
      break;
    }
  }
  return { batch, left, resting, isCostly: takesCostly === true };
}

/** Whether both costly organizations and others have commands in the queue that may be decided now. */
function hasBoth(queue: readonly Queued[], turns: Turns): boolean {
  if (!turns.hasCostly()) return false;
  const found = new Set<boolean>();
  for (const { command } of queue) {
    if (turns.restMs(command.organizationId) === 0) found.add(turns.isCostly(command.organizationId));
    if (found.size === 2) return true;
  }
  return false;
}
