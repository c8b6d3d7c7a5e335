import { callingStep } from "../../core/job/call.ts";
import { maxDepth } from "../../core/job/child-job.ts";
import type { Job } from "../../core/job/job-state.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Transaction } from "../../store/home/database.ts";
import { insertChildren, lockTrees, type MadeChild } from "../../store/jobs/child-jobs.ts";
import { type CallKey, type HandedOverCall, handOverCalls, lockCalls } from "../../store/jobs/job-calls.ts";
import type { ChildOrigin, Command, SubmitCommand } from "./command.ts";

export type ChildCommand = SubmitCommand & { readonly origin: ChildOrigin };

export function isChild(command: Command): command is ChildCommand {
  return command.type === "submit" && command.origin !== undefined;
}

/** The parent's call is over, or another node has taken it over: nothing was made. */
export class CallIsOverError extends ServiceError {
  constructor() {
    super("ConflictError", "The call of the parent is over.");
  }
}

/** The tree of jobs has as many as it may. */
export class TooManyChildrenError extends ServiceError {
  constructor(maxDescendants: number) {
    const message = `${maxDescendants} jobs were begun below the first one, in up to ${maxDepth} levels, and more may not be. Begin fewer, or begin them from several jobs.`;
    super("ConflictError", message);
  }
}

/** The children that one batch makes. No child is made while its parent gives it up: the row of the call is locked for as long as the batch takes. */
export class NewChildren {
  /** Those whose call, or whose tree, another transaction holds. */
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

  /** Locks the parents' calls and the counts of the trees; nothing, in a batch that makes no children. */
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

  /** Whether the parent's call is still there. `parent` is the parent where the batch changes it too. */
  isWanted(command: ChildCommand, parent: Job | undefined): boolean {
    if (!this.#locked.has(command)) return false;
    return parent === undefined || callingStep(parent.state, command.origin.call) !== undefined;
  }

  /** Whether there is room for one more in the tree. */
  hasRoom(command: ChildCommand, maxDescendants: number): boolean {
    return (this.#counts.get(rootNameOf(command)) ?? 0) < maxDescendants;
  }

  /** A child was made that there was not. */
  addMade(command: ChildCommand): void {
    const { organizationId, jobId, origin } = command;
    this.#made.push({ organizationId, jobId, parent: origin.parent });
    const root = rootNameOf(command);
    this.#counts.set(root, (this.#counts.get(root) ?? 0) + 1);
  }

  /** The child brings the outcome of the call from now on. */
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
