import type { JsonObject, JsonValue } from "./json.ts";

/** Takes units of about 20 ns from the remaining budget of a check. Returns false when not enough units are left. */
type Charge = (units: number) => boolean;

/**
 * Finds the equal items of a list. Each item is looked up by its hash, a number that is computed from its contents. A `Map` would need a text of each
 * item, and making the text took five to ten times as long for small arrays and objects. A user can choose items that share a hash, so comparing them
 * is charged as well.
 */
export class SeenItems {
  readonly #items: readonly JsonValue[];
  readonly #charge: Charge;
  /** For each slot, the index of an item plus one, or 0 for an empty slot. An item's hash gives the slot at which its search begins. */
  readonly #slots: Int32Array;
  readonly #hashes: Int32Array;

  constructor(items: readonly JsonValue[], charge: Charge) {
    this.#items = items;
    this.#charge = charge;
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(items.length * 2)));
    this.#hashes = new Int32Array(items.length);
  }

  /**
   * Returns the index of the first item that equals the item at `index`. This is `index` itself when no earlier item is equal. Call this for the
   * items in their order. Undefined when not enough units are left for the search.
   */
  firstEqual(index: number): number | undefined {
    const item = this.#items[index] as JsonValue;
    if (!this.#charge(unitsPerItem)) return undefined;
    const hash = this.#hashOf(item);
    if (hash === undefined) return undefined;
    const last = this.#slots.length - 1;
    for (let slot = hash & last; ; slot = (slot + 1) & last) {
      const other = (this.#slots[slot] ?? 0) - 1;
      if (other === -1) return this.#keep(slot, index, hash);
      if (!this.#charge(1)) return undefined;
      if (this.#hashes[other] !== hash) continue;
      const isEqual = this.#equals(item, this.#items[other] as JsonValue);
      if (isEqual !== false) return isEqual && other;
    }
  }

  #keep(slot: number, index: number, hash: number): number {
    this.#slots[slot] = index + 1;
    this.#hashes[index] = hash;
    return index;
  }

  /** Returns the hash of a value; undefined when the value costs too much. Equal values have equal hashes, whatever the order of their properties. */
  #hashOf(value: JsonValue): number | undefined {
    if (typeof value === "number") return hashOfNumber(value);
    if (typeof value === "string") return this.#charge(value.length >> 3) ? hashOfText(value) : undefined;
    if (typeof value === "boolean") return value ? trueHash : falseHash;
    if (value === null) return nullHash;
    return Array.isArray(value) ? this.#hashOfArray(value) : this.#hashOfObject(value);
  }

  #hashOfArray(items: readonly JsonValue[]): number | undefined {
    if (!this.#charge(1 + items.length)) return undefined;
    let sum = arrayHash;
    for (const item of items) {
      const hash = this.#hashOf(item);
      if (hash === undefined) return undefined;
      sum = mixed(Math.imul(sum, 31) + hash);
    }
    return sum;
  }

  #hashOfObject(value: JsonObject): number | undefined {
    const names = Object.keys(value);
    if (!this.#charge(2 + names.length * unitsPerName)) return undefined;
    let sum = objectHash;
    for (const name of names) {
      const hash = this.#charge(name.length >> 3) ? this.#hashOf(value[name] as JsonValue) : undefined;
      if (hash === undefined) return undefined;
      sum = (sum + mixed(Math.imul(hashOfText(name), 31) + hash)) | 0;
    }
    return mixed(sum);
  }

  /** Undefined when comparing costs too much. */
  #equals(one: JsonValue, other: JsonValue): boolean | undefined {
    if (typeof one === "string") return this.#charge(1 + (one.length >> 3)) ? one === other : undefined;
    if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
    if (Array.isArray(one)) return Array.isArray(other) && this.#equalArrays(one, other);
    return !Array.isArray(other) && this.#equalObjects(one, other);
  }

  #equalArrays(one: readonly JsonValue[], other: readonly JsonValue[]): boolean | undefined {
    if (one.length !== other.length) return false;
    if (!this.#charge(1 + one.length)) return undefined;
    for (const [index, item] of one.entries()) {
      const isEqual = this.#equals(item, other[index] as JsonValue);
      if (isEqual !== true) return isEqual;
    }
    return true;
  }

  #equalObjects(one: JsonObject, other: JsonObject): boolean | undefined {
    const names = Object.keys(one);
    if (!this.#charge(2 + names.length * unitsPerName)) return undefined;
    if (names.length !== Object.keys(other).length) return false;
    for (const name of names) {
      if (!Object.hasOwn(other, name)) return false;
      const isEqual = this.#equals(one[name] as JsonValue, other[name] as JsonValue);
      if (isEqual !== true) return isEqual;
    }
    return true;
  }
}

function hashOfNumber(value: number): number {
  // 0 and -0 are equal, and `| 0` turns both into 0.
  if ((value | 0) === value) return mixed(value | 0);
  double[0] = value;
  return mixed(Math.imul(words[0] as number, 31) + (words[1] as number));
}

const double = new Float64Array(1);
const words = new Int32Array(double.buffer);

function hashOfText(text: string): number {
  let hash = textHash;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return mixed(hash);
}

/** The finalizer of MurmurHash3. It spreads the information in a number over all 32 bits, because the last bits choose the slot. */
function mixed(bits: number): number {
  let hash = bits | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

// Any different numbers work here.
const textHash = 0x811c9dc5;
const arrayHash = 0x2545f491;
const objectHash = 0x5bd1e995;
const trueHash = 0x1b873593;
const falseHash = 0x4cf5ad43;
const nullHash = 0x38495ab5;

/** The units for one item without its contents. It takes up to 20 bytes in the tables, and its slot is seldom in the processor's cache. */
const unitsPerItem = 5;
/** The units for one property without its value. Each property is listed, and looked up by its name. */
const unitsPerName = 7;
