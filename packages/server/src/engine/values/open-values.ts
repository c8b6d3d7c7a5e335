import { jobInputNumber } from "../../core/job/history.ts";
import { type OpenedJob, openJob } from "../../core/job/values/opened-job.ts";
import { namesValues, numbersIn } from "../../core/job/values/stored-state.ts";
import type { JsonObject, JsonValue } from "../../core/json/json.ts";
import type { Transaction } from "../../store/home/database.ts";
import { readValues } from "../../store/jobs/job-values.ts";
import type { LockedJob } from "../../store/jobs/jobs.ts";
import { readInputs, TooMuchAtOnceError } from "../../store/jobs/large-contents.ts";
import { type RecentValue, RecentValues } from "./recent-values.ts";

export interface OpenValuesOptions {
  readonly maxBytes: number;
  readonly reasonCount: number;
  /** Receives the number of bytes that were read for an organization. */
  readonly noteBytes?: (organizationId: string, bytes: number) => void;
}

/**
 * Gives jobs the values that have rows of their own. Only the values whose numbers `neededOf` returns are read. Throws `TooMuchAtOnceError` when the
 * values together are larger than `maxBytes` and the work can be split: when they belong to several jobs, or when one job needs them for several
 * facts or tasks (`reasonCount`).
 */
export async function openValues(
  transaction: Transaction,
  jobs: readonly LockedJob[],
  neededOf: (job: LockedJob) => readonly number[],
  { maxBytes, reasonCount, noteBytes }: OpenValuesOptions,
  recent: RecentValues = new RecentValues(),
): Promise<OpenedJob[]> {
  const needed = jobs.filter(isApart).flatMap((job) => {
    const numbers = neededOf(job);
    return numbers.length === 0 ? [] : [{ ...job, numbers, known: knownOf(job, numbers, recent) }];
  });
  const isDivisible = needed.length > 1 || reasonCount > 1;
  const room = isDivisible ? maxBytes : Number.MAX_SAFE_INTEGER;
  const wanted = needed.flatMap(({ organizationId, jobId, numbers, known }) =>
    numbers
      .filter((valueNumber) => valueNumber !== jobInputNumber && !known.has(valueNumber))
      .map((valueNumber) => ({ organizationId, jobId, valueNumber })),
  );
  const [values, inputs] = await Promise.all([
    readValues(transaction, wanted, room),
    readInputs(
      transaction,
      needed.filter(
        ({ input, numbers, known }) => input === null && numbers.includes(jobInputNumber) && !known.has(jobInputNumber),
      ),
      room,
    ),
  ]);
  if (values.length < wanted.length && isDivisible) throw new TooMuchAtOnceError(needed.length, maxBytes);
  const found = new Map(needed.map(({ jobId, known }) => [jobId, known]));
  for (const { text, bytes, ...key } of values) {
    const value: RecentValue = { value: JSON.parse(text) as JsonValue, bytes };
    noteBytes?.(key.organizationId, bytes);
    found.get(key.jobId)?.set(key.valueNumber, value);
    recent.add(key, value);
  }
  for (const { organizationId, jobId } of needed) {
    const input = inputs.get(jobId);
    if (input === undefined) continue;
    noteBytes?.(organizationId, input.bytes);
    const value: RecentValue = { value: input.content, bytes: undefined };
    found.get(jobId)?.set(jobInputNumber, value);
    recent.add({ organizationId, jobId, valueNumber: jobInputNumber }, value);
  }
  const wantedOf = new Map(needed.map(({ jobId, numbers }) => [jobId, numbers]));
  return jobs.map((job) => {
    const known = found.get(job.jobId);
    const input = job.input ?? (known?.get(jobInputNumber)?.value as JsonObject | undefined);
    // The values are in the order of the wanted numbers, no matter which of them were read and which were known.
    const opened = (wantedOf.get(job.jobId) ?? []).flatMap((valueNumber) => {
      const value = valueNumber === jobInputNumber ? undefined : known?.get(valueNumber);
      return value === undefined ? [] : { valueNumber, ...value };
    });
    return openJob({ ...job, input }, opened);
  });
}

function knownOf(
  { organizationId, jobId }: LockedJob,
  numbers: readonly number[],
  recent: RecentValues,
): Map<number, RecentValue> {
  const known = new Map<number, RecentValue>();
  for (const valueNumber of numbers) {
    const value = recent.get({ organizationId, jobId, valueNumber });
    if (value !== undefined) known.set(valueNumber, value);
  }
  return known;
}

/** The numbers of the values of these branches, including the job's input; empty when no branch is named. */
export function numbersOf({ state }: LockedJob, branches: ReadonlySet<string>): readonly number[] {
  return branches.size === 0 ? [] : [...new Set([jobInputNumber, ...numbersIn(state, branches)])];
}

function isApart({ state, input }: LockedJob): boolean {
  return input === null || namesValues(state);
}
