import { randomUUID } from "node:crypto";
import { mainBranch } from "../../core/branch-path.ts";
import { runKeyOf, type StepRunKey } from "../../core/job/history.ts";
import { countEntries, type EarlierLife } from "../../core/job/metrics/job-counts.ts";
import { ChangeSum, rollUp } from "../../core/job/metrics/metric-change.ts";
import type { Database, Transaction } from "../../store/home/database.ts";
import {
  addToRollups,
  findChangedOrganizations,
  insertMetricChanges,
  takeMetricChanges,
} from "../../store/jobs/metric-rollups.ts";
import {
  type Backlog,
  findEarlierEnds,
  findStepStarts,
  findUncounted,
  type HistoryPosition,
  listBacklogs,
  markCounted,
  moveBacklog,
  type RunOfRow,
  readBacklog,
  readUncounted,
  type UncountedRow,
} from "../../store/jobs/uncounted-history.ts";
import type { Duty } from "./duty.ts";

const everyMs = 2_000;
const maxOrganizationsAtOnce = 100;
/** The bound on the changes in one transaction. Most changes have a few sums, but a change from a slice of history may have thousands. */
const maxChangesAtOnce = 50;
/** The bound on the rows that are counted together. On the embedded store they take about 10 ms, during which it does nothing else. */
const maxRowsAtOnce = 250;
/**
 * The time for which slices of the backlog are counted before their changes are folded together. Folding them together is cheap, because the jobs of
 * one hour change the same sums.
 */
const backlogMs = 150;

/**
 * Folds the metric changes of commits into the rollups. Each change is a row of its own, so no time or number has to mark how far the changes are
 * folded, and a change that was committed late is folded too. The transaction that adds a change to the rollups also deletes its row, so each change
 * counts once, whichever node folds and however often it tries. Readers compute the sum of the rollups and the rows in one statement, so they always
 * see every change.
 *
 * Also makes the changes for history that was committed without them, mostly by earlier releases.
 */
export function metricRollupsDuty(database: Database): Duty {
  return {
    name: "metric-rollups",
    everyMs,
    async runOnce() {
      await foldAll(database);
      const uncounted = await findUncounted(database, maxRowsAtOnce);
      for (const [organizationId, rows] of Map.groupBy(uncounted, (row) => row.organizationId)) {
        await countUncounted(database, organizationId, rows);
      }
      const begun = performance.now();
      let [backlog] = await listBacklogs(database, 1);
      const hasBacklog = backlog !== undefined;
      while (backlog !== undefined && performance.now() - begun < backlogMs) {
        await countBacklog(database, backlog);
        [backlog] = await listBacklogs(database, 1);
      }
      if (!hasBacklog && uncounted.length < maxRowsAtOnce) return undefined;
      // The pause is as long as the counting of the backlog took. Counting history that has waited for years is not urgent and need not slow down the
      // store.
      return { againInMs: performance.now() - begun };
    },
  };
}

async function foldAll(database: Database): Promise<void> {
  let found: readonly string[] = [];
  let last: string | null = null;
  do {
    found = await findChangedOrganizations(database, last, maxOrganizationsAtOnce);
    for (const organizationId of found) {
      // The loop ends when there were fewer changes than the maximum, and later changes wait for the next run. Otherwise an organization that commits
      // without a pause would keep this run going forever.
      while ((await database.transaction((transaction) => fold(transaction, organizationId))) === maxChangesAtOnce);
    }
    last = found.at(-1) ?? null;
  } while (found.length === maxOrganizationsAtOnce);
}

async function fold(transaction: Transaction, organizationId: string): Promise<number> {
  const changes = await takeMetricChanges(transaction, organizationId, maxChangesAtOnce);
  await addToRollups(transaction, organizationId, rollUp(changes));
  return changes.length;
}

async function countUncounted(
  database: Database,
  organizationId: string,
  positions: Parameters<typeof readUncounted>[2],
): Promise<void> {
  const rows = await readUncounted(database, organizationId, positions);
  const changes = await changesOfRows(database, organizationId, rows);
  await unlessTaken(database, async (transaction) => {
    // Rows whose job is gone add nothing. They are marked too, so that they are not read again.
    const marked = await markCounted(transaction, organizationId, positions);
    if (marked !== positions.length) throw new TakenByAnotherNode();
    await insertMetricChanges(transaction, randomUUID(), [{ organizationId, changes }]);
  });
}

/**
 * Counts one slice of a backlog. The transaction that adds the counts also stores the progress. So counting continues from there after a restart.
 * When two nodes count the same slice, only one adds the counts.
 */
async function countBacklog(database: Database, backlog: Backlog): Promise<void> {
  const { organizationId } = backlog;
  const rows = await readBacklog(database, backlog, maxRowsAtOnce);
  const changes = await changesOfRows(database, organizationId, rows);
  await unlessTaken(database, async (transaction) => {
    if (!(await moveBacklog(transaction, backlog, rows.at(-1)))) throw new TakenByAnotherNode();
    await insertMetricChanges(transaction, randomUUID(), [{ organizationId, changes }]);
  });
}

/** Thrown when another node counted the same rows at the same time and was first. */
class TakenByAnotherNode extends Error {}

async function unlessTaken(database: Database, work: (transaction: Transaction) => Promise<void>): Promise<void> {
  try {
    await database.transaction(work);
  } catch (error) {
    if (!(error instanceof TakenByAnotherNode)) throw error;
  }
}

async function changesOfRows(database: Database, organizationId: string, rows: readonly UncountedRow[]) {
  const starts = await findStepStarts(database, organizationId, rows.flatMap(runsFromBefore));
  const resumed = rows.filter(({ entries }) => entries.some(({ type }) => type === "job.resumed"));
  const ends = await findEarlierEnds(database, organizationId, resumed);
  const startOf = new Map(starts.map((start) => [keyOfRun(start, start), start.startedAt]));
  const endOf = new Map(ends.map((end) => [`${end.jobId} ${end.firstSequence}`, end]));
  const sum = new ChangeSum();
  for (const row of rows) {
    const earlier: EarlierLife = {
      createdAt: row.createdAt,
      end: endOf.get(`${row.jobId} ${row.firstSequence}`),
      startOf: (run) => startOf.get(keyOfRun(row, run)),
    };
    sum.add(row.workflowId, countEntries(earlier, row.entries).counts);
  }
  return sum.changes;
}

/** The runs of steps that succeed in this row of history and began in an earlier row. */
function runsFromBefore({ jobId, firstSequence, entries }: UncountedRow): RunOfRow[] {
  const begun = new Set(entries.flatMap((entry) => (entry.type === "step.started" ? runKeyOf(runOf(entry)) : [])));
  return entries.flatMap((entry) =>
    entry.type === "step.succeeded" && !begun.has(runKeyOf(runOf(entry)))
      ? [{ jobId, firstSequence, ...runOf(entry) }]
      : [],
  );
}

function runOf({ branch = mainBranch, step = "", visit = 0 }: Partial<StepRunKey>): Required<StepRunKey> {
  return { branch, step, visit };
}

function keyOfRun({ jobId, firstSequence }: HistoryPosition, run: StepRunKey): string {
  return `${jobId} ${firstSequence} ${runKeyOf(run)}`;
}
