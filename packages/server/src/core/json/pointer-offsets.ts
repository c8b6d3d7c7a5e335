import { endOfString } from "./json-problem.ts";

/** A position in a JSON text: the value to which a pointer leads or, if that value is a string, a place inside it. */
export interface JsonTarget {
  readonly pointer: string;
  /**
   * The offset within the decoded string, in UTF-16 units. In the decoded string, `\"` and `\u0041` are one unit each. In the JSON text they are two
   * and six.
   */
  readonly stringOffset?: number | undefined;
}

/**
 * Returns where the targets begin in a JSON text, as offsets in UTF-16 units. A property begins at its key, and an item of an array at its value. For
 * a missing target, the result is the offset of the object or array that lacks it.
 *
 * The text is walked through once for all targets, and only the parts with a target are entered. So a thousand targets cost hardly more than one.
 */
export function offsetsOf(text: string, targets: readonly JsonTarget[]): number[] {
  const root = new Place();
  const places = targets.map((target) => root.reach(target.pointer));
  for (const [index, { stringOffset }] of targets.entries()) {
    if (stringOffset !== undefined) places[index]?.at(-1)?.stringOffsets.add(stringOffset);
  }
  new Walk(text).document(root);
  return places.map((path, index) => offsetOf(path, targets[index]?.stringOffset));
}

/** A value that is a target or contains one. */
class Place {
  readonly children = new Map<string, Place>();
  readonly stringOffsets = new Set<number>();
  /** For each of `stringOffsets`, the offset in the text. */
  textOffsets: ReadonlyMap<number, number> = new Map();
  /** The offset of the value's key, or of the value itself if it has no key. Undefined until the walk reaches it. */
  start: number | undefined;
  valueStart: number | undefined;
  /**
   * The offset of the object or array around this value. When a key is repeated, only its last value counts, and the offset shows whether this value
   * is inside of that last value.
   */
  holderStart: number | undefined;

  /** The places on the way from this one to the value at the pointer. */
  reach(pointer: string): readonly Place[] {
    const path: Place[] = [this];
    for (const token of pointer.split("/").slice(1)) {
      const { children } = path.at(-1) ?? this;
      const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
      const child = children.get(key) ?? new Place();
      children.set(key, child);
      path.push(child);
    }
    return path;
  }
}

function offsetOf(path: readonly Place[], stringOffset: number | undefined): number {
  let holder: Place | undefined;
  for (const place of path) {
    const isThere = place.start !== undefined && (holder === undefined || place.holderStart === holder.valueStart);
    if (!isThere) return holder?.valueStart ?? 0;
    holder = place;
  }
  const inString = stringOffset === undefined ? undefined : holder?.textOffsets.get(stringOffset);
  return inString ?? holder?.start ?? 0;
}

/** A walk over text that is certainly JSON. It goes only as deep as the pointers, and skips everything else. */
class Walk {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(root: Place): void {
    this.#skipSpace();
    this.#meet(root, this.#position, undefined);
  }

  /** Records the value of a place. The position is at the value's start before the call, and after the value's end when the call returns. */
  #meet(place: Place, start: number, holderStart: number | undefined): void {
    const valueStart = this.#position;
    place.start = start;
    place.valueStart = valueStart;
    place.holderStart = holderStart;
    place.textOffsets = new Map();
    const opening = this.#text[valueStart];
    if (opening === "{" && place.children.size > 0) this.#object(place, valueStart);
    else if (opening === "[" && place.children.size > 0) this.#array(place, valueStart);
    else this.#skipValue();
    if (opening === '"' && place.stringOffsets.size > 0) {
      place.textOffsets = textOffsetsOf(this.#text, valueStart, this.#position, place.stringOffsets);
    }
  }

  #object(place: Place, holderStart: number): void {
    this.#enter();
    while (this.#text[this.#position] === '"') {
      const keyStart = this.#position;
      this.#skipValue();
      const child = place.children.get(JSON.parse(this.#text.slice(keyStart, this.#position)) as string);
      this.#skipSpace();
      // Skips the colon.
      this.#enter();
      this.#item(child, keyStart, holderStart);
    }
    this.#position++;
  }

  #array(place: Place, holderStart: number): void {
    this.#enter();
    for (let index = 0; this.#isBefore("]"); index++) {
      this.#item(place.children.get(String(index)), this.#position, holderStart);
    }
    this.#position++;
  }

  /** Skips or records one value, and skips the comma after it. */
  #item(place: Place | undefined, start: number, holderStart: number): void {
    if (place === undefined) this.#skipValue();
    else this.#meet(place, start, holderStart);
    this.#skipSpace();
    if (this.#text[this.#position] === ",") this.#enter();
  }

  #isBefore(closing: string): boolean {
    return this.#position < this.#text.length && this.#text[this.#position] !== closing;
  }

  /** Skips one character and the white space after it. */
  #enter(): void {
    this.#position++;
    this.#skipSpace();
  }

  #skipSpace(): void {
    this.#skip(whiteSpace);
  }

  /** Skips one value with everything in it, at any depth. */
  #skipValue(): void {
    let depth = 0;
    do {
      const character = this.#text[this.#position];
      if (character === '"') this.#position = endOfString(this.#text, this.#position) + 1;
      else if (character === "{" || character === "[") {
        depth++;
        this.#position++;
      } else if (character === "}" || character === "]") {
        depth--;
        this.#position++;
      } else this.#skip(depth === 0 ? scalar : plain);
    } while (depth > 0 && this.#position < this.#text.length);
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#position;
    pattern.test(this.#text);
    this.#position = Math.max(pattern.lastIndex, this.#position);
  }
}

/**
 * Finds the offsets in the text for offsets in a string. Each unit of the string is one character or one escape in the text. An offset after the end
 * of the string counts as the end.
 */
function textOffsetsOf(text: string, start: number, end: number, stringOffsets: ReadonlySet<number>) {
  const found = new Map<number, number>();
  let position = start + 1;
  let passed = 0;
  for (const stringOffset of [...stringOffsets].sort((one, other) => one - other)) {
    for (; passed < stringOffset && position < end - 1; passed++) {
      if (text[position] !== "\\") position++;
      else position += text[position + 1] === "u" ? 6 : 2;
    }
    found.set(stringOffset, position);
  }
  return found;
}

// The patterns are sticky, and each can match in only one way. So all of them take linear time.
const whiteSpace = /[ \t\n\r]*/y;
/** A number or a literal name. */
const scalar = /[^\s,\]}]+/y;
/** Numbers, literal names, and the characters between values. */
const plain = /[^"{}[\]]+/y;
