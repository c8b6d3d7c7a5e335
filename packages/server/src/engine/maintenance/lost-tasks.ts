import { callNameOf } from "../../core/job/call.ts";
import type { UntimedFact } from "../../core/job/fact.ts";
import { type Database, shortLockTimeoutMs } from "../../store/home/database.ts";
import { everyPairJoined, partsOf } from "../../store/home/key-parts.ts";
import type { CallKey } from "../../store/jobs/job-calls.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import { type FoundTask, findLostTasks, findTimedOutTasks, takeLostTasks } from "../../store/jobs/tasks.ts";
import { inHalves } from "../in-halves.ts";
import type { Plans } from "../plans/plans.ts";
import type { Duty } from "./duty.ts";
import { JobTelling } from "./job-telling.ts";
import { Reports } from "./reports.ts";

export interface LostTasksOptions {
  readonly database: Database;
  readonly nodeId: string;
  readonly everyMs: number;
  readonly plans: Plans;
  /** Tells a job a fact, and returns whether this changed the job. */
  readonly report: (key: JobKey, fact: UntimedFact) => Promise<boolean>;
  /** Receives the number of leases that had run out. */
  readonly onLost: (count: number) => void;
  /** A random number from 0 up to 1 (exclusive), for the jitter of the next attempt. */
  readonly random: () => number;
}

/**
 * The bound on the tasks that one round takes over, and also on the tasks that it ends because their time is up. It is low, so that requests get
 * their turn between two rounds. After a round that reached the bound, the next round mostly follows at once.
 */
const maxTasksAtOnce = 100;
/** The longest time for which one round tells jobs that the time of their tasks is up. */
const maxRoundMs = 1_000;

/**
 * Ends the leases of workers that sent no heartbeat in time, so that other workers get their tasks. Also ends attempts whose whole time is up. When
 * this node dies after it took a task over, another node continues, as for any call of a dead node.
 */
export function lostTasksDuty(options: LostTasksOptions): Duty {
  const { database, everyMs, plans, report, random } = options;
  const reports = new Reports<CallKey>();
  const telling = new JobTelling<FoundTask>();
  // The searches leave an organization out while facts about its tasks still wait for their commit.
  const leftOut = () => ({ ...plans.parking.leftOut(), organizationIds: [...reports.busy(), ...telling.busy()] });
  return {
    name: "lost-tasks",
    everyMs,
    async runOnce() {
      const lost = await readableOf(plans, database, await findLostTasks(database, leftOut(), maxTasksAtOnce));
      const taken = await takeOver(options, reports, lost);
      const timedOut = await readableOf(plans, database, await findTimedOutTasks(database, leftOut(), maxTasksAtOnce));
      const ended = await telling.tell(
        timedOut,
        (task) => report(task, { type: "step.failed", ...callNameOf(task), failure: timeout(task), random: random() }),
        performance.now() + maxRoundMs,
      );
      const isMore = taken === maxTasksAtOnce || (timedOut.length === maxTasksAtOnce && ended.isAnyChanged);
      return isMore ? { againInMs: 0 } : undefined;
    },
  };
}

/** Returns the tasks whose jobs this node can continue. The other tasks are left to other nodes. */
async function readableOf(plans: Plans, database: Database, tasks: readonly FoundTask[]): Promise<FoundTask[]> {
  if (tasks.length === 0) return [];
  const readable = await plans.findReadable(database, tasks);
  return tasks.filter(({ versionId }) => readable.has(versionId));
}

async function takeOver(
  options: LostTasksOptions,
  reports: Reports<CallKey>,
  tasks: readonly FoundTask[],
): Promise<number> {
  const { database, nodeId, plans, report, onLost } = options;
  let count = 0;
  const own = (part: readonly FoundTask[]) =>
    database.transaction((transaction) => takeLostTasks(transaction, nodeId, part), {
      lockTimeoutMs: shortLockTimeoutMs,
    });
  for (const group of Map.groupBy(tasks, ({ organizationId }) => database.groupOf(organizationId)).values()) {
    // A commit reads and writes the whole state of each job. So the facts about the tasks of one job go into one commit if possible.
    const byJob = [...Map.groupBy(group, ({ jobId }) => jobId).values()].flat();
    for (const candidates of partsOf(byJob, everyPairJoined)) {
      const part = candidates.filter((task) => !reports.isBusy(task));
      if (part.length === 0) continue;
      const taken = await inHalves(part, own, (task, error) => plans.parking.parkJob(task, error));
      count += taken.length;
      onLost(taken.length);
      await reports.send(taken, (task) =>
        report(task, { type: "step.interrupted", ...callNameOf(task), isNodeDead: true }),
      );
    }
  }
  return count;
}

function timeout({ step, isTask }: FoundTask) {
  const message = !isTask
    ? `The child job of ${step} did not end within the step's \`timeoutSeconds\`, which count from the time when the child job should start. The child job is cancelled.`
    : `No worker completed ${step} within its \`timeoutSeconds\`, which count from the time when the task was due.`;
  return { error: { code: "Timeout", message }, kind: "ordinary" } as const;
}
