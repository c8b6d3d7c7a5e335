import { isJsonObject, type JsonObject, type JsonValue } from "../../json/json.ts";
import { bytesOfJson, mostBytesPerMember, sizeOfJson } from "../../json/json-size.ts";
import { getOwn } from "../../json/record.ts";
import { propertyOf } from "../../plan/slots.ts";
import type { NumberedResult } from "../branch-result.ts";
import { type HistoryEntry, jobInputNumber, type StoredValue, valueIn, withValue } from "../history.ts";
import type { JobState } from "../job-state.ts";
import type { AnyCursor } from "../resume-point.ts";
import { carriesNothing } from "./carried-bytes.ts";
import {
  type LeanCursor,
  placesIn,
  type StoredState,
  storedState,
  type ValueNumbers,
  type ValuePlaceName,
  withoutPlaces,
} from "./stored-state.ts";

/** A value that gets a row of its own. */
export interface NewValue {
  readonly valueNumber: number;
  /** The value as JSON text. */
  readonly text: string;
  readonly bytes: number;
}

/** A value that is stored outside of the state: a value with a row of its own, or the job's input. `bytes` is undefined for the job's input. */
export interface KnownValue {
  readonly valueNumber: number;
  readonly value: JsonValue;
  readonly bytes: number | undefined;
}

/** When the text of a value has more bytes than this, the value gets a row of its own. */
export const maxInlineBytes = 2_048;

/**
 * Knows which values of one job have rows of their own, and writes the job's state and history with the numbers of these values. A large value is
 * written only once, however many steps take it; only an extract (`#extracted`) repeats parts of it. The state machine never copies a value, so a
 * stored value is recognized by its identity.
 */
export class ValueBook {
  /** Objects are found by their identity. Strings are found by their text, which works as well. */
  readonly #numbers = new Map<JsonValue, number>();
  /** The stored objects from which a property may come, in the order in which they were added. */
  readonly #origins: KnownValue[] = [];
  /** The lengths in bytes of the stored values that were read or added, by their numbers. */
  #bytes: Map<number, number> | undefined;
  /** The properties and slots whose values were parts of stored values when the state was loaded. */
  readonly #places = new Map<string, { readonly valueNumber: number; readonly value: JsonValue }>();
  readonly #added: NewValue[] = [];
  readonly #maxInlineBytes: number;
  /**
   * The number of extracts so far. The first extract gets the negated sequence number of the commit's last entry, the second that of the entry
   * before, and so on. There are always enough entries, because a commit adds an extract for a branch only with an entry about that branch.
   */
  #extractCount = 0;
  #input: JsonObject | undefined;
  /** Undefined until it is needed. */
  #isInputLarge: boolean | undefined;

  constructor(maxInline = maxInlineBytes) {
    this.#maxInlineBytes = maxInline;
  }

  /** Adds results of branches. Each of these results gets a row of its own. */
  addResults(results: readonly NumberedResult[]): void {
    for (const { valueNumber, result } of results) {
      const text = JSON.stringify(result);
      this.#added.push({ valueNumber, text, bytes: Buffer.byteLength(text) });
    }
  }

  /** Adds the job's input. Only a large input is replaced by its number. Its size is measured when it is needed for the first time. */
  learnInput(value: JsonObject): void {
    this.#input = value;
  }

  /** Adds a value that is in the store. */
  learn(known: KnownValue): void {
    this.#numbers.set(known.value, known.valueNumber);
    if (isJsonObject(known.value)) this.#origins.push(known);
    if (known.bytes === undefined) return;
    this.#bytes ??= new Map();
    this.#bytes.set(known.valueNumber, known.bytes);
  }

  /** Adds a value that was not read. It stays in its row, and the state can only refer to it by its number. */
  learnUnread(place: JsonValue, valueNumber: number): void {
    this.#numbers.set(place, valueNumber);
  }

  /** Adds the value that this property or slot had when the state was loaded. */
  learnPlace(place: ValuePlaceName, value: JsonValue, valueNumber: number): void {
    this.#places.set(idOf(place), { valueNumber, value });
  }

  /**
   * The values that get new rows: those that `entries` and `state` moved, and those of `addResults`. Write these rows in the same transaction as the
   * entries and the state.
   */
  get added(): readonly NewValue[] {
    return this.#added;
  }

  /** Returns the entries of one commit as they are stored. Each can be read without the entries of other commits. */
  entries(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
    return entries.map((entry) => this.#storedEntry(entry));
  }

  /** Returns the state as it is stored. Call `entries` first, because it adds the new values. `sequence` is the sequence of the last entry. */
  state(state: JobState, sequence: number): StoredState {
    return storedState(state, (cursor) => this.#leanCursor(cursor, sequence));
  }

  #leanCursor(cursor: AnyCursor, sequence: number): LeanCursor {
    const { properties: carried, slots: slotValues = {} } = cursor.carried;
    if (this.#isEmpty() && cursor.carried.slots === undefined) return { cursor, values: undefined };
    const places = placesIn(cursor);
    if (carriesNothing(cursor.carried) && this.#hasNoNumber(places)) return { cursor, values: undefined };
    const { input, previousOutput, lastOutput, items, results = {} } = places;
    const resultNumbers = Object.entries(results).flatMap(([key, value]) => {
      const valueNumber = this.#numberOf(value);
      return valueNumber === undefined ? [] : [[key, valueNumber] as const];
    });
    const whole = {
      ...this.#numbered("input", input),
      ...this.#numbered("previousOutput", previousOutput),
      ...this.#numbered("lastOutput", lastOutput),
      ...this.#numbered("items", items),
    };
    const carriedPlaces = [...propertyPlaces(carried, cursor.branch), ...slotPlaces(slotValues, cursor.branch)];
    const numbers = this.#placeNumbers(carriedPlaces, new Set(Object.values(whole)), sequence);
    const properties = recordOf(numbers, false);
    const slots = recordOf(numbers, true);
    const values: ValueNumbers = {
      ...whole,
      ...(resultNumbers.length > 0 && { results: Object.fromEntries(resultNumbers) }),
      ...(properties !== undefined && { properties }),
      ...(slots !== undefined && { slots }),
    };
    if (Object.keys(values).length === 0) return { cursor, values: undefined };
    return { cursor: withoutPlaces(cursor, values), values };
  }

  /**
   * Whether no value of the cursor has a number. In a job with a thousand branches, this is so for most of them. The values of a fork are not looked
   * at: for a fork, the answer is false.
   */
  #hasNoNumber({ input, previousOutput, lastOutput, items, results }: ReturnType<typeof placesIn>): boolean {
    if (results !== undefined || items !== undefined) return false;
    for (const value of [input, previousOutput, lastOutput]) {
      if (value !== undefined && this.#numberOf(value) !== undefined) return false;
    }
    return true;
  }

  #isEmpty(): boolean {
    return this.#numbers.size === 0 && this.#places.size === 0 && !this.#inputIsApart();
  }

  #inputIsApart(): boolean {
    const limit = this.#maxInlineBytes / 2;
    this.#isInputLarge ??= this.#input !== undefined && sizeOfJson(this.#input, limit) > limit;
    return this.#isInputLarge;
  }

  #numberOf(value: JsonValue): number | undefined {
    return value === this.#input && this.#inputIsApart() ? jobInputNumber : this.#numbers.get(value);
  }

  /** Returns the entry as it is stored. Usually this is the same entry, because no part of it is moved to a row. */
  #storedEntry(entry: HistoryEntry): HistoryEntry {
    const value = valueIn(entry);
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

  /** Returns the text of a value if it is large. Most values are so small that their text need not be made. */
  #textIfLarge(value: JsonValue): { readonly text: string; readonly bytes: number } | undefined {
    const limit = this.#maxInlineBytes;
    if (sizeOfJson(value, limit) * mostBytesPerMember <= limit) return undefined;
    const text = JSON.stringify(value);
    const bytes = Buffer.byteLength(text);
    return bytes > limit ? { text, bytes } : undefined;
  }

  #numbered(
    place: "input" | "previousOutput" | "lastOutput" | "items",
    value: JsonValue | undefined,
  ): Readonly<Record<string, number>> {
    const valueNumber = value === undefined ? undefined : this.#numberOf(value);
    return valueNumber === undefined ? {} : { [place]: valueNumber };
  }

  /**
   * For each place, the number of the stored value that is there, or that contains the place's value as a property. Small parts of a large stored
   * value go to an extract, and their places get the extract's number. The values in `readWhole` are read anyway, so their parts need no extract. A
   * place whose value stays in the state is left out.
   */
  #placeNumbers(
    places: readonly Place[],
    readWhole: ReadonlySet<number>,
    sequence: number,
  ): ReadonlyMap<Place, number> {
    const numbers = new Map<Place, number>();
    const extract: Place[] = [];
    for (const place of places) {
      const known = this.#numberAt(place);
      if (known !== undefined) numbers.set(place, known);
      else if (place.isSlot && isWorthNumber(place.value)) extract.push(place);
    }
    for (const [valueNumber, parts] of Map.groupBy(numbers.keys(), (place) => numbers.get(place) ?? Number.NaN)) {
      if (readWhole.has(valueNumber) || !isSmallPart(this.#bytes?.get(valueNumber), parts)) continue;
      extract.push(...parts);
      for (const place of parts) numbers.delete(place);
    }
    const extractNumber = -(sequence - this.#extractCount);
    const extracted = this.#extracted(extract, extractNumber);
    if (extracted.length > 0) this.#extractCount += 1;
    for (const place of extracted) numbers.set(place, extractNumber);
    return numbers;
  }

  /** The number of the stored value that is in a place, or that contains the place's value as a property. Undefined when there is none. */
  #numberAt(place: Place): number | undefined {
    const { property, value } = place;
    const known = this.#places.get(idOf(place));
    if (known?.value === value) return known.valueNumber;
    if (property !== undefined) return isWorthNumber(value) ? this.#originOf(property, value) : undefined;
    return this.#numberOf(value);
  }

  /** The number of the stored value from which a property comes. */
  #originOf(name: string, value: JsonValue): number | undefined {
    const origin = this.#origins.findLast((one) => getOwn(one.value as JsonObject, name) === value);
    if (origin !== undefined) return origin.valueNumber;
    const isOfInput = this.#input !== undefined && getOwn(this.#input, name) === value && this.#inputIsApart();
    return isOfInput ? jobInputNumber : undefined;
  }

  /**
   * Writes the values of several places together, as one value with a row of its own: a few properties of a large output, and the values of slots
   * that are in no row yet. If all of them together are too small for a row, they stay in the state. Returns the places whose values the new row has.
   */
  #extracted(places: readonly Place[], valueNumber: number): readonly Place[] {
    const byName = new Map(places.map((place) => [place.name, place]));
    const values = Object.fromEntries([...byName].map(([name, { value }]) => [name, value]));
    const large = places.length === 0 ? undefined : this.#textIfLarge(values);
    if (large === undefined) return [];
    this.#added.push({ valueNumber, ...large });
    return [...byName.values()];
  }
}

/** A property or slot in a job's state. The name of a slot begins with a slash. */
interface Place extends ValuePlaceName {
  /** The name of the property of a stored value; undefined for a whole value. */
  readonly property: string | undefined;
  readonly value: JsonValue;
}

/** The place as text. A line break can separate the parts, because no path of a branch has one. */
function idOf({ branch, name, isSlot }: ValuePlaceName): string {
  return `${branch}\n${isSlot ? "slot" : "property"} ${name}`;
}

function propertyPlaces(properties: JsonObject, branch: string): Place[] {
  return Object.entries(properties).map(([name, value]) => ({ branch, name, isSlot: false, property: name, value }));
}

function slotPlaces(slots: JsonObject, branch: string): Place[] {
  return Object.entries(slots).map(([name, value]) => ({
    branch,
    name,
    isSlot: true,
    property: propertyOf(name),
    value,
  }));
}

function recordOf(numbers: ReadonlyMap<Place, number>, isSlot: boolean): Record<string, number> | undefined {
  const found = [...numbers].filter(([place]) => place.isSlot === isSlot);
  return found.length === 0 ? undefined : Object.fromEntries(found.map(([{ name }, number]) => [name, number]));
}

/** Whether a part of a value is large enough to get a number. A smaller part stays in the state, because its number would save hardly any room. */
function isWorthNumber(value: JsonValue): boolean {
  return sizeOfJson(value, leastNumbered) > leastNumbered;
}

const leastNumbered = 64;

/**
 * Whether these parts are less than a quarter of the `bytes` of a stored value. The parts are read again and again, and a read should not bring much
 * more than the parts. The text of the parts is made only when they may be small enough. Their characters and members are counted first, because each
 * has at least one byte.
 */
function isSmallPart(bytes: number | undefined, parts: readonly Place[]): boolean {
  if (bytes === undefined) return false;
  const isSmall = (size: number) => size * leastShare < bytes;
  const sizes = (sizeOf: (value: JsonValue) => number) => parts.reduce((sum, { value }) => sum + sizeOf(value), 0);
  return isSmall(sizes((value) => sizeOfJson(value, bytes))) && isSmall(sizes(bytesOfJson));
}

const leastShare = 4;
