import { callingStep } from "../../core/job/call.ts";
import { maxDepth } from "../../core/job/child-job.ts";
import type { Job } from "../../core/job/job-state.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Transaction } from "../../store/home/database.ts";
import { insertChildren, lockTrees, type MadeChild } from "../../store/jobs/child-jobs.ts";
import { type HandedOverCall, handOverCalls, lockCalls } from "../../store/jobs/handed-over-calls.ts";
import type { CallKey } from "../../store/jobs/job-calls.ts";
import type { ChildOrigin, Command, SubmitCommand } from "./command.ts";

export type ChildCommand = SubmitCommand & { readonly origin: ChildOrigin };

export function isChild(command: Command): command is ChildCommand {
  return command.type === "submit" && command.origin !== undefined;
}

/** Thrown when the parent's call is over or was taken over by another node. No child was made. */
export class CallIsOverError extends ServiceError {
  constructor() {
    super("ConflictError", "The call of the parent is over.");
  }
}

/** Thrown when the tree of jobs is as large as it may be. */
export class TooManyChildrenError extends ServiceError {
  constructor(maxDescendants: number) {
    const message = `${maxDescendants} child jobs exist below the job at the top, on up to ${maxDepth} levels, and no more are allowed. Start fewer child jobs, or start them below several jobs that have no parent.`;
    super("ConflictError", message);
  }
}

/** The children that one batch makes. The row of the parent's call is locked until the batch ends, so no child is made while its parent gives up the call. */
export class NewChildren {
  /** The commands whose call or tree is locked by another transaction. */
  readonly held: ReadonlySet<Command>;
  readonly #locked: ReadonlySet<Command>;
  readonly #counts: Map<string, number>;
  readonly #made: MadeChild[] = [];
  readonly #handedOver: HandedOverCall[] = [];

  private constructor(locked: ReadonlySet<Command>, held: ReadonlySet<Command>, counts: Map<string, number>) {
    this.#locked = locked;
    this.held = held;
    this.#counts = counts;
  }

  /** Locks the parents' calls and the rows that count the jobs of their trees. */
  static async lock(transaction: Transaction, nodeId: string, commands: readonly ChildCommand[]): Promise<NewChildren> {
    if (commands.length === 0) return new NewChildren(new Set(), new Set(), new Map());
    const roots = new Map(commands.map((command) => [rootNameOf(command), rootKeyOf(command)]));
    const [calls, trees] = await Promise.all([
      lockCalls(transaction, nodeId, commands.map(callKeyOf)),
      lockTrees(transaction, [...roots.values()]),
    ]);
    const locked = new Set(calls.locked.map(callNameOf));
    const heldCalls = new Set(calls.held.map(callNameOf));
    const heldTrees = new Set(trees.held.map(({ rootJobId }) => rootJobId));
    return new NewChildren(
      new Set(commands.filter((command) => locked.has(callNameOf(callKeyOf(command))))),
      new Set(
        commands.filter(
          (command) => heldCalls.has(callNameOf(callKeyOf(command))) || heldTrees.has(command.origin.parent.rootJobId),
        ),
      ),
      new Map(trees.counts.map(({ organizationId, rootJobId, count }) => [`${organizationId} ${rootJobId}`, count])),
    );
  }

  /** Whether the parent's call still waits for the child. `parent` is the parent's state if the batch changes the parent too. */
  isWanted(command: ChildCommand, parent: Job | undefined): boolean {
    if (!this.#locked.has(command)) return false;
    return parent === undefined || callingStep(parent.state, command.origin.call) !== undefined;
  }

  hasRoom(command: ChildCommand, maxDescendants: number): boolean {
    return (this.#counts.get(rootNameOf(command)) ?? 0) < maxDescendants;
  }

  /** Counts a child that was just made. Must not be called for a child that existed before. */
  addMade(command: ChildCommand): void {
    const { organizationId, jobId, origin } = command;
    this.#made.push({ organizationId, jobId, parent: origin.parent });
    const root = rootNameOf(command);
    this.#counts.set(root, (this.#counts.get(root) ?? 0) + 1);
  }

  /** Notes that the child, and not this node, will report the outcome of the call. */
  handOver(command: ChildCommand): void {
    const { jobId: childId, origin } = command;
    this.#handedOver.push({ ...callKeyOf(command), childId, timeoutAt: origin.timeoutAt });
  }

  async write(transaction: Transaction): Promise<void> {
    await Promise.all([insertChildren(transaction, this.#made), handOverCalls(transaction, this.#handedOver)]);
  }
}

function callKeyOf({ organizationId, origin }: ChildCommand): CallKey {
  return { organizationId, jobId: origin.parent.jobId, ...origin.call };
}

function callNameOf({ jobId, branch, epoch }: CallKey): string {
  return `${jobId} ${epoch} ${branch}`;
}

function rootKeyOf({ organizationId, origin }: ChildCommand) {
  return { organizationId, rootJobId: origin.parent.rootJobId };
}

function rootNameOf(command: ChildCommand): string {
  return `${command.organizationId} ${command.origin.parent.rootJobId}`;
}
