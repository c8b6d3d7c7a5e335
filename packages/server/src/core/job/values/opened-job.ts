import { isJsonObject, type JsonObject, type JsonValue } from "../../json/json.ts";
import { getOwn } from "../../json/record.ts";
import { jobInputNumber } from "../history.ts";
import type { Job } from "../job-state.ts";
import { type FindValue, type StoredState, withPlaces } from "./stored-state.ts";
import { unreadValue } from "./unread-value.ts";
import { type KnownValue, maxInlineBytes, ValueBook } from "./value-book.ts";

/** A job in the form that the state machine needs, and the book that knows which of its values are stored already. */
export interface OpenedJob {
  readonly job: Job;
  readonly values: ValueBook;
}

export type StoredJob = Omit<Job, "state" | "input"> & {
  readonly state: StoredState;
  /** Undefined when it was not read. */
  readonly input: JsonObject | undefined;
};

/** Takes the values that were read, and puts each into its place in a job. The other values stay unread. */
export function openJob(
  { state, input, ...row }: StoredJob,
  read: readonly KnownValue[],
  maxInline = maxInlineBytes,
): OpenedJob {
  const values = new ValueBook(maxInline);
  const found = new Map<number, JsonValue>();
  for (const value of read) {
    values.learn(value);
    found.set(value.valueNumber, value.value);
  }
  if (input !== undefined) {
    values.learnInput(input);
    found.set(jobInputNumber, input);
  }
  const unread = new Map<number, JsonObject>();
  const leaveUnread = (valueNumber: number): JsonObject => {
    const place = unread.get(valueNumber) ?? unreadValue();
    unread.set(valueNumber, place);
    values.learnUnread(place, valueNumber);
    return place;
  };
  const find: FindValue = (valueNumber, property, place) => {
    const value = found.get(valueNumber);
    if (property === undefined) return value ?? leaveUnread(valueNumber);
    const part = isJsonObject(value) ? getOwn(value, property) : undefined;
    const known = part ?? unreadValue();
    if (place !== undefined) values.learnPlace(place, known, valueNumber);
    return known;
  };
  const opened = withPlaces(state, row.leaseEpoch, find);
  return { values, job: { ...row, input: input ?? leaveUnread(jobInputNumber), state: opened } };
}
