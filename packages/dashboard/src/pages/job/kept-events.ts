import type { HistoryEntry } from "../../api/live/many-jobs-stream.ts";
import type { OpenRun } from "./step-run.ts";

interface KeptEvent {
  readonly eventId: string;
  /** The wait for which the event counts. */
  wait?: OpenRun | undefined;
}

/**
 * The events that a job has received and no step has consumed. Each of them counts for one wait at most. The history does not say for which wait an
 * event was sent. So the event counts for the wait that has waited for it longest, until the history says which wait consumed it.
 */
export class KeptEvents {
  readonly #waits: ReadonlySet<OpenRun>;
  readonly #byNumber = new Map<number, KeptEvent>();

  /** `waits` are the open waits, the one that has waited longest first. */
  constructor(waits: ReadonlySet<OpenRun>) {
    this.#waits = waits;
  }

  receive({ eventId = "", eventNumber = 0, outcome }: HistoryEntry): void {
    // No step of the workflow waits for an unmatched event, so it never counts for a wait.
    if (outcome === "unmatched") return;
    const event: KeptEvent = { eventId };
    this.#byNumber.set(eventNumber, event);
    if (outcome === "matched") offer(event, this.#waits);
  }

  /** Gives a wait the earlier events that it needs and that count for no other wait. */
  beginWait(wait: OpenRun): void {
    wait.receivedEventIds = [];
    for (const event of this.#byNumber.values())
      if (event.wait === undefined || event.wait === wait) offer(event, [wait]);
  }

  /** Removes the events that a wait consumed. Other events that counted for this wait may now count for another one. */
  endWait(wait: OpenRun, { type, consumed = [], error }: HistoryEntry): void {
    if (type === "step.succeeded") this.#consume(wait, consumed);
    // A wait that failed before its time was over had received enough events. It consumed them, but the entry does not name them.
    if (type === "step.failed" && error?.code !== "Timeout") this.#consume(wait, this.#numbersOf(wait));
    for (const event of this.#byNumber.values()) if (event.wait === wait) offer(event, this.#waits);
  }

  /** No event counts for a wait any more, since all waits are over. */
  release(): void {
    for (const event of this.#byNumber.values()) event.wait = undefined;
  }

  #numbersOf(wait: OpenRun): number[] {
    return [...this.#byNumber].filter(([, event]) => event.wait === wait).map(([number]) => number);
  }

  #consume(wait: OpenRun, numbers: readonly number[]): void {
    wait.receivedEventIds = [];
    for (const number of numbers) {
      const event = this.#byNumber.get(number);
      if (event === undefined) continue;
      this.#byNumber.delete(number);
      wait.receivedEventIds.push(event.eventId);
      if (event.wait !== undefined && event.wait !== wait)
        event.wait.receivedEventIds = event.wait.receivedEventIds.filter((eventId) => eventId !== event.eventId);
    }
  }
}

/** Lets an event count for the first of the waits that lacks it. */
function offer(event: KeptEvent, waits: Iterable<OpenRun>): void {
  event.wait = undefined;
  for (const wait of waits) {
    if (!wait.eventIds?.includes(event.eventId) || wait.receivedEventIds.includes(event.eventId)) continue;
    wait.receivedEventIds.push(event.eventId);
    event.wait = wait;
    return;
  }
}
