import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { sizeOfJson } from "../json/json-size.ts";
import { getOwn } from "../json/record.ts";
import { type HistoryEntry, jobInputNumber, type StoredValue, withValue } from "./history.ts";
import type { JobState, Progress } from "./job-state.ts";
import { placesIn, type StoredState, type ValueNumbers, withoutPlaces } from "./stored-state.ts";

/** A value that is to have a row of its own. */
export interface NewValue {
  readonly valueNumber: number;
  /** The value as JSON text. */
  readonly text: string;
  readonly bytes: number;
}

/** A value that has a row of its own already; `bytes` is undefined for the job's input, which has a column. */
export interface KnownValue {
  readonly valueNumber: number;
  readonly value: JsonValue;
  readonly bytes: number | undefined;
}

/** A value of more bytes of text than this gets a row of its own. */
export const maxInlineBytes = 2_048;

/**
 * Knows which values of one job have a row of their own, and writes its state and its history with their numbers instead. A value is written once, however many
 * steps take it: what was stored is known by its identity, which the state machine keeps, since it never copies a value.
 */
export class ValueBook {
  /** Objects are found by their identity; strings by their text, which is as good. */
  readonly #numbers = new Map<JsonValue, number>();
  /** The objects among the stored values, from which a property may come. The latest is last. */
  readonly #origins: KnownValue[] = [];
  /** The properties of the state as they were loaded. */
  readonly #properties = new Map<string, { readonly valueNumber: number; readonly value: JsonValue }>();
  readonly #added: NewValue[] = [];
  readonly #maxInlineBytes: number;
  #input: JsonObject | undefined;
  /** Undefined until somebody asks. */
  #isInputLarge: boolean | undefined;

  constructor(maxInline = maxInlineBytes) {
    this.#maxInlineBytes = maxInline;
  }

  /** A small input may as well stand in the state. It is measured only when it makes a difference, which it mostly never does. */
  learnInput(value: JsonObject): void {
    this.#input = value;
  }

  /** Adds a value that is in the store. */
  learn(known: KnownValue): void {
    this.#numbers.set(known.value, known.valueNumber);
    if (isJsonObject(known.value)) this.#origins.push(known);
  }

  /** A value that was not read: it can only stay where it is. */
  learnUnread(place: JsonValue, valueNumber: number): void {
    this.#numbers.set(place, valueNumber);
  }

  learnProperty(name: string, value: JsonValue, valueNumber: number): void {
    this.#properties.set(name, { valueNumber, value });
  }

  /** The values that `entries` and `state` put apart, to be written with them. */
  get added(): readonly NewValue[] {
    return this.#added;
  }

  /** The entries of one commit, as they are stored: each can be read without those of other commits. */
  entries(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
    return entries.map((entry) => this.#storedEntry(entry));
  }

  /** After `entries`, which make the new values known. `sequence` is that of the last entry. */
  state(state: JobState, sequence: number): StoredState {
    if (state.status === "SUCCEEDED" || this.#isEmpty()) return state;
    const { input, previousOutput, lastOutput } = placesIn(state);
    const properties = this.#propertyNumbers(state.progress, sequence);
    const values: ValueNumbers = {
      ...this.#numbered("input", input),
      ...this.#numbered("previousOutput", previousOutput),
      ...this.#numbered("lastOutput", lastOutput),
      ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    };
    return Object.keys(values).length === 0 ? state : { ...withoutPlaces(state, values), values };
  }

  #isEmpty(): boolean {
    return this.#numbers.size === 0 && this.#properties.size === 0 && !this.#inputIsApart();
  }

  #inputIsApart(): boolean {
    const limit = this.#maxInlineBytes / 2;
    this.#isInputLarge ??= this.#input !== undefined && sizeOfJson(this.#input, limit) > limit;
    return this.#isInputLarge;
  }

  #numberOf(value: JsonValue): number | undefined {
    return value === this.#input && this.#inputIsApart() ? jobInputNumber : this.#numbers.get(value);
  }

  /** The very entry where nothing of it is put apart, which is the usual case. */
  #storedEntry(entry: HistoryEntry): HistoryEntry {
    const value =
      entry.type === "step.started" ? entry.input : entry.type === "step.succeeded" ? entry.output : undefined;
    const stored = value === undefined ? undefined : this.#stored(value, entry.sequence);
    return stored === undefined || stored === value ? entry : withValue(entry, () => stored);
  }

  #stored(stored: StoredValue, sequence: number): StoredValue {
    if (!("value" in stored)) return stored;
    const { value } = stored;
    const known = this.#numberOf(value);
    if (known !== undefined) return { stored: known };
    const large = this.#textIfLarge(value);
    if (large === undefined) return stored;
    this.#add(value, { valueNumber: sequence, ...large });
    return { stored: sequence };
  }

  #add(value: JsonValue, added: NewValue): void {
    this.#added.push(added);
    this.learn({ valueNumber: added.valueNumber, value, bytes: added.bytes });
  }

  /** Most values are so small that their text need not be made: a number, the largest of what counts as one, has 24 characters. */
  #textIfLarge(value: JsonValue): { readonly text: string; readonly bytes: number } | undefined {
    const limit = this.#maxInlineBytes;
    if (sizeOfJson(value, limit) * 24 <= limit) return undefined;
    const text = JSON.stringify(value);
    const bytes = Buffer.byteLength(text);
    return bytes > limit ? { text, bytes } : undefined;
  }

  #numbered(place: "input" | "previousOutput" | "lastOutput", value: JsonValue | undefined): ValueNumbers {
    const valueNumber = value === undefined ? undefined : this.#numberOf(value);
    return valueNumber === undefined ? {} : { [place]: valueNumber };
  }

  /** The numbers of the values of which these properties are properties. */
  #propertyNumbers({ properties }: Progress, sequence: number): [string, number][] {
    const numbers: [string, number][] = [];
    const fresh = new Map<KnownValue, [string, JsonValue][]>();
    for (const [name, value] of Object.entries(properties)) {
      const known = this.#properties.get(name);
      if (known?.value === value) {
        numbers.push([name, known.valueNumber]);
        continue;
      }
      if (sizeOfJson(value, leastNumbered) <= leastNumbered) continue;
      const origin = this.#originOf(name, value);
      if (origin === undefined) continue;
      const siblings = fresh.get(origin) ?? [];
      siblings.push([name, value]);
      fresh.set(origin, siblings);
    }
    const extract: [string, JsonValue][] = [];
    for (const [origin, ofOrigin] of fresh) {
      if (isSmallPart(origin, ofOrigin)) extract.push(...ofOrigin);
      else numbers.push(...ofOrigin.map(([name]): [string, number] => [name, origin.valueNumber]));
    }
    return [...numbers, ...this.#extracted(extract, -sequence)];
  }

  /** The stored value from which a property comes. */
  #originOf(name: string, value: JsonValue): KnownValue | undefined {
    const origin = this.#origins.findLast((one) => getOwn(one.value as JsonObject, name) === value);
    if (origin !== undefined || this.#input === undefined || getOwn(this.#input, name) !== value) return origin;
    return this.#inputIsApart() ? { valueNumber: jobInputNumber, value: this.#input, bytes: undefined } : undefined;
  }

  /** A few properties of a large output are written once more, as a value of their own; they stay in the state where they are too little for that. */
  #extracted(properties: readonly [string, JsonValue][], valueNumber: number): [string, number][] {
    const large = properties.length === 0 ? undefined : this.#textIfLarge(Object.fromEntries(properties));
    if (large === undefined) return [];
    this.#added.push({ valueNumber, ...large });
    return properties.map(([name]) => [name, valueNumber]);
  }
}

/** A part that is read again and again must not bring something large with it each time. */
function isSmallPart({ bytes }: KnownValue, properties: readonly [string, JsonValue][]): boolean {
  const size = properties.reduce((sum, [, value]) => sum + sizeOfJson(value, maxPartSize), 0);
  return bytes !== undefined && size <= maxPartSize && size * leastShare < bytes;
}

/** A smaller property stays in the state: its number would be no shorter. */
const leastNumbered = 64;
/** In characters and members. */
const maxPartSize = 6_000;
/** A part that is less than one in so many of the whole is small. */
const leastShare = 8;
