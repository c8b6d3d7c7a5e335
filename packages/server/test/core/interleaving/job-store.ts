import { type BranchResult, type BranchResults, noResults } from "../../../src/core/job/branch-result.ts";
import { type EventPayload, holdsPayloads, payloadsToRead } from "../../../src/core/job/events/event-payloads.ts";
import type { EventChange, UntimedFact } from "../../../src/core/job/fact.ts";
import { type Entry, type HistoryEntry, plainEntries, withValue } from "../../../src/core/job/history.ts";
import type { Job, JobState } from "../../../src/core/job/job-state.ts";
import { branchesLookedInto } from "../../../src/core/job/looks-into-values.ts";
import { resultsToRead } from "../../../src/core/job/result-rows.ts";
import { type OpenedJob, openJob, type StoredJob } from "../../../src/core/job/values/opened-job.ts";
import { numbersIn, unreadState, withPlaces } from "../../../src/core/job/values/stored-state.ts";
import type { ValueBook } from "../../../src/core/job/values/value-book.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { getOwn } from "../../../src/core/json/record.ts";
import type { Plan } from "../../../src/core/plan/plan.ts";
import type { Timestamp } from "../../../src/core/time.ts";

/** The rows of one job. Everything in them goes through JSON text, so that only written data survives a commit. */
export class JobStore {
  /** Values with rows of their own. */
  readonly values = new Map<number, { readonly text: string; readonly bytes: number }>();
  readonly commits: HistoryEntry[][] = [];
  /** The payloads of kept events, as text, and the ids under which they were sent. */
  readonly events = new Map<
    number,
    { readonly eventId: string; readonly payload: string | undefined; readonly isUnmatched: boolean }
  >();
  #row: StoredJob | undefined;

  get row(): StoredJob {
    if (this.#row === undefined) throw new Error("The job was never written.");
    return this.#row;
  }

  /** Writes one commit. `book` knows which values are already stored. */
  write(book: ValueBook, job: Job, entries: readonly HistoryEntry[], events: readonly EventChange[] = []): void {
    this.commits.push(copy([...book.entries(entries)]));
    const { input, state, ...row } = job;
    this.#row = {
      ...copy(row),
      state: copy(book.state(state, job.sequence)),
      input: this.#row === undefined ? copy(input) : this.#row.input,
    };
    for (const { valueNumber, ...added } of book.added) {
      if (this.values.has(valueNumber)) throw new Error(`There is a value ${valueNumber} already.`);
      this.values.set(valueNumber, added);
    }
    for (const event of events) {
      if (event.type !== "kept") continue;
      const { eventNumber, eventId, payload, outcome } = event;
      const text = payload === undefined ? undefined : JSON.stringify(payload);
      this.events.set(eventNumber, { eventId, payload: text, isUnmatched: outcome === "unmatched" });
    }
  }

  /** Replaces the row by one that an earlier release wrote. */
  writeRow(row: StoredJob, entries: readonly HistoryEntry[]): void {
    this.commits.push(copy([...entries]));
    this.#row = copy(row);
  }

  /** Reads the job for a commit with these facts, as a group commit does: only the values of those branches that these facts may need. */
  open(plan: Plan, facts: readonly UntimedFact[], at: Timestamp): OpenedJob {
    return this.openWith(branchesLookedInto(plan, unreadState(this.row), facts, at));
  }

  openWith(branches: ReadonlySet<string>): OpenedJob {
    const numbers = numbersIn(this.row.state, branches).filter((number) => number !== 0);
    const read = numbers.map((valueNumber) => ({ valueNumber, ...this.#value(valueNumber) }));
    return openJob({ ...copy(this.row), input: branches.size > 0 ? copy(this.row.input) : undefined }, read);
  }

  /** The payloads that a group commit reads for these facts. */
  payloadsFor(plan: Plan, job: Job, facts: readonly UntimedFact[]): Map<number, EventPayload> {
    const wanted = holdsPayloads(plan, job) ? payloadsToRead(plan, job, facts) : [];
    return new Map(wanted.map((eventNumber) => [eventNumber, this.#payload(eventNumber)]));
  }

  /** The results of branches that a group commit reads for these facts. */
  resultsFor(job: Job, facts: readonly UntimedFact[]): BranchResults {
    const range = resultsToRead(job, facts);
    if (range === undefined) return noResults;
    const numbers = Array.from({ length: range.count }, (_, index) => range.first + index);
    return new Map(numbers.map((number) => [number, this.#value(number).value as unknown as BranchResult]));
  }

  keptAs(eventId: string): number | null {
    return [...this.events].find(([, event]) => event.isUnmatched && event.eventId === eventId)?.[0] ?? null;
  }

  get input(): JsonObject {
    return this.row.input ?? {};
  }

  /** The state with all of its values. */
  get state(): JobState {
    return withPlaces(this.row.state, this.row.leaseEpoch, (number, property) => {
      const value = number === 0 ? this.input : this.#value(number).value;
      return property === undefined ? value : (getOwn(value as JsonObject, property) ?? null);
    });
  }

  /** The history as readers get it in pages. The entries of each commit are read separately. */
  get plainEntries(): Entry<JsonValue>[] {
    return this.commits.flatMap((entries) => [
      ...plainEntries(
        this.input,
        entries.map((entry) =>
          withValue(entry, (value) =>
            "stored" in value && value.stored !== 0 ? { value: this.#value(value.stored).value } : value,
          ),
        ),
      ),
    ]);
  }

  #value(number: number): { readonly value: JsonValue; readonly bytes: number } {
    const row = this.values.get(number);
    if (row === undefined) throw new Error(`There is no value ${number}.`);
    return { value: JSON.parse(row.text), bytes: row.bytes };
  }

  #payload(eventNumber: number): EventPayload {
    const payload = this.events.get(eventNumber)?.payload;
    return payload === undefined ? "none" : { value: JSON.parse(payload) };
  }
}

export function copy<Value>(value: Value): Value {
  return value === undefined ? value : JSON.parse(JSON.stringify(value));
}
