import { jobInputNumber } from "../../core/job/history.ts";
import { type OpenedJob, openJob } from "../../core/job/opened-job.ts";
import { numbersIn } from "../../core/job/stored-state.ts";
import type { JsonValue } from "../../core/json/json.ts";
import type { Transaction } from "../../store/home/database.ts";
import { readValues } from "../../store/jobs/job-values.ts";
import { type LockedJob, readInputs, TooMuchAtOnceError } from "../../store/jobs/jobs.ts";

/**
 * Gives locked jobs the values that have rows of their own: those of the jobs that `isNeeded` names are read, the others stay unread. Throws
 * `TooMuchAtOnceError` when the values of several jobs, or their inputs, are more than `maxBytes`.
 */
export async function openValues(
  transaction: Transaction,
  jobs: readonly LockedJob[],
  isNeeded: (job: LockedJob) => boolean,
  maxBytes: number,
): Promise<OpenedJob[]> {
  const needed = jobs.filter((job) => isApart(job) && isNeeded(job));
  const room = needed.length > 1 ? maxBytes : Number.MAX_SAFE_INTEGER;
  const wanted = needed.flatMap(({ organizationId, jobId, state }) =>
    numbersIn(state)
      .filter((valueNumber) => valueNumber !== jobInputNumber)
      .map((valueNumber) => ({ organizationId, jobId, valueNumber })),
  );
  const [values, inputs] = await Promise.all([
    readValues(transaction, wanted, room),
    readInputs(
      transaction,
      needed.filter(({ input }) => input === null),
      room,
    ),
  ]);
  if (values.length < wanted.length && needed.length > 1) throw new TooMuchAtOnceError(needed.length, maxBytes);
  const valuesByJob = Map.groupBy(values, ({ jobId }) => jobId);
  return jobs.map((job) => {
    const input = job.input ?? inputs.get(job.jobId);
    const read = valuesByJob.get(job.jobId) ?? [];
    const known = read.map(({ text, ...place }) => ({ ...place, value: JSON.parse(text) as JsonValue }));
    return openJob({ ...job, input }, known);
  });
}

function isApart({ state, input }: LockedJob): boolean {
  return input === null || state.values !== undefined;
}
