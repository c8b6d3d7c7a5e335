import type { JsonValue } from "../../json/json.ts";
import { bytesOfJson, mostBytesPerMember, sizeOfJson } from "../../json/json-size.ts";
import { quoted } from "../../problem.ts";
import type { Carried, StepError } from "../job-state.ts";

/**
 * Checks, during one change of a job, that no branch carries more bytes of values than allowed. A value is measured only once, however many steps
 * carry it.
 */
export class CarriedBytes {
  readonly #maxBytes: number;
  readonly #sizes = new Map<JsonValue, number>();
  readonly #bytes = new Map<JsonValue, number>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The error when a branch carries too much; undefined when it does not. A value counts once for each place where it is. Otherwise
   * the result would change when the job is stored and read again, because one value in two places may be read as two equal values.
   */
  excess({ properties, slots = {} }: Carried): StepError | undefined {
    const places = [...Object.entries(properties), ...Object.entries(slots)];
    const total = (numberOf: (value: JsonValue) => number) =>
      places.reduce((sum, [, value]) => sum + numberOf(value), 0);
    if (total(this.#sizeOf) * mostBytesPerMember <= this.#maxBytes) return undefined;
    const bytes = total(this.#bytesOf);
    if (bytes <= this.#maxBytes) return undefined;
    const largest = places.sort(([, a], [, b]) => this.#bytesOf(b) - this.#bytesOf(a)).slice(0, shownCount);
    const listed = largest.map(([place, value]) => `${quoted(place)} (${this.#bytesOf(value)} bytes)`).join(", ");
    const message = `The job, or one of its branches, carries ${bytes} bytes of values for later steps. The maximum is ${this.#maxBytes}. The largest are ${listed}. Use a smaller \`output\` in the steps that make them, or let later steps read single properties.`;
    return { code: "ValueLimitExceeded", message };
  }

  readonly #sizeOf = (value: JsonValue): number =>
    known(this.#sizes, value, () => sizeOfJson(value, Number.MAX_SAFE_INTEGER));

  readonly #bytesOf = (value: JsonValue): number => known(this.#bytes, value, () => bytesOfJson(value));
}

/** Whether a branch carries neither properties nor slots. This must be quick: it is asked at every step, and most branches carry none. */
export function carriesNothing({ properties, slots }: Carried): boolean {
  if (slots !== undefined) return false;
  for (const _ in properties) return false;
  return true;
}

const shownCount = 3;

function known(numbers: Map<JsonValue, number>, value: JsonValue, find: () => number): number {
  const number = numbers.get(value) ?? find();
  numbers.set(value, number);
  return number;
}
