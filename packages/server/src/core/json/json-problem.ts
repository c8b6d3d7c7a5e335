import { type Problem, pointerOf, quoted } from "../problem.ts";
import { describePosition, positionsOf } from "./text-position.ts";

/** `textOffset` counts UTF-16 units from the start of the text. */
export type JsonProblem = Problem & { readonly textOffset: number };

/**
 * Walks JSON text and returns the first thing in it that is not allowed; undefined when there is none. Besides errors of syntax, these are not
 * allowed:
 *
 * - nesting that is too deep: `JSON.parse` accepts a million nested arrays, but `JSON.stringify` crashes at some thousands;
 * - numbers that JavaScript would change too much: numbers beyond ±(2^53 - 1), and numbers that would become 0 although they are not 0. A decimal
 *   fraction such as 0.1000000000000000055 is allowed, and is read as the nearest double, as usual;
 * - NUL, which PostgreSQL cannot store, and halves of surrogate pairs, which become U+FFFD when the text is encoded as UTF-8;
 * - keys that lead to an object's prototype: `__proto__`, and `prototype` in the value of `constructor`.
 *
 * The walk reads the text and not the parsed value, because only the text has the number that was meant, and the place of an error.
 */
export function findJsonProblem(text: string, maxDepth: number): JsonProblem | undefined {
  const walk = new JsonWalk(text, maxDepth);
  walk.document();
  return walk.problem;
}

/** Reports each key that repeats an earlier key of its object, in a text that `findJsonProblem` accepts. */
export function walkRepeatedKeys(text: string, onRepeatedKey: (problem: JsonProblem) => void): void {
  new JsonWalk(text, Number.POSITIVE_INFINITY, onRepeatedKey).document();
}

/** Whether arrays and objects are nested more than `maxDepth` deep. The answer is right for JSON. For any other text it may be wrong. */
export function nestsDeeper(text: string, maxDepth: number): boolean {
  if (!hasMoreBrackets(text, maxDepth)) return false;
  let depth = 0;
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === openBrace || code === openBracket) {
      if (++depth > maxDepth) return true;
    } else if (code === closeBrace || code === closeBracket) depth--;
    else if (code === quote) position = endOfString(text, position);
  }
  return false;
}

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;
const backslash = 0x5c;

/**
 * A text with at most `count` opening brackets cannot be nested deeper than `count`. This check is quick, because `indexOf` is, and it is enough
 * for nearly every small text.
 */
function hasMoreBrackets(text: string, count: number): boolean {
  let found = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++found > count) return true;
    }
  }
  return false;
}

/** The position of the quote that closes the string whose opening quote is at `start`. */
export function endOfString(text: string, start: number): number {
  for (let position = start + 1; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === quote) return position;
    if (code === backslash) position++;
  }
  return text.length;
}

/**
 * A recursive descent over the grammar of RFC 8259. The maximum depth bounds the recursion. A method that reads a part of the grammar returns false
 * (for a string: undefined) once there is something to reject. This ends the walk.
 */
class JsonWalk {
  problem: JsonProblem | undefined;
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #path: (string | number)[] = [];
  readonly #onRepeatedKey: ((problem: JsonProblem) => void) | undefined;
  #position = 0;

  constructor(text: string, maxDepth: number, onRepeatedKey?: (problem: JsonProblem) => void) {
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#onRepeatedKey = onRepeatedKey;
  }

  document(): boolean {
    if (this.#text.startsWith(byteOrderMark)) {
      return this.#refuse("begins with a byte order mark (U+FEFF); send the JSON without it");
    }
    if (!this.#value()) return false;
    return this.#position === this.#text.length || this.#unexpected("nothing more after the value");
  }

  #value(): boolean {
    this.#skip(whitespace);
    const isRead = this.#valueItself();
    if (isRead) this.#skip(whitespace);
    return isRead;
  }

  #valueItself(): boolean {
    switch (this.#text[this.#position]) {
      case "{":
        return this.#nested(() => this.#object());
      case "[":
        return this.#nested(() => this.#array());
      case '"':
        return this.#string() !== undefined;
      case "t":
      case "f":
      case "n":
        return this.#skip(literalName) || this.#unexpected("a value");
      default:
        return this.#number();
    }
  }

  #nested(readContent: () => boolean): boolean {
    if (this.#path.length >= this.#maxDepth) {
      return this.#refuse(`is nested more than ${this.#maxDepth} levels deep; send a flatter document`);
    }
    this.#position++;
    this.#skip(whitespace);
    return readContent();
  }

  #object(): boolean {
    if (this.#take("}")) return true;
    const keys = this.#onRepeatedKey && new Set<string>();
    do {
      this.#skip(whitespace);
      if (this.#text[this.#position] !== '"') return this.#unexpected("a key in double quotes");
      const keyPosition = this.#position;
      const key = this.#string();
      if (key === undefined || !this.#isHarmlessKey(key, keyPosition)) return false;
      this.#skip(whitespace);
      if (!this.#take(":")) return this.#unexpected("a colon after the key");
      this.#path.push(key);
      if (keys?.has(key))
        this.#onRepeatedKey?.({ pointer: pointerOf(this.#path), detail: repeatedKey, textOffset: keyPosition });
      keys?.add(key);
      if (!this.#value()) return false;
      this.#path.pop();
    } while (this.#take(","));
    return this.#take("}") || this.#unexpected("a comma or `}`");
  }

  #array(): boolean {
    if (this.#take("]")) return true;
    let index = 0;
    do {
      this.#path.push(index++);
      if (!this.#value()) return false;
      this.#path.pop();
    } while (this.#take(","));
    return this.#take("]") || this.#unexpected("a comma or `]`");
  }

  /** Returns the string that the text at this position stands for; undefined when the string is rejected. */
  #string(): string | undefined {
    const start = this.#position++;
    let hasEscape = false;
    for (;;) {
      this.#skip(plainCharacters);
      if (this.#take('"')) break;
      if (!this.#skip(escapeSequence)) {
        if (this.#text[this.#position] === "\\") this.#unexpected("an escape sequence of JSON");
        else
          this.#unexpected(
            "more of the string: control characters in it must be escaped, and it must end with a double quote",
          );
        return undefined;
      }
      hasEscape = true;
    }
    const value = hasEscape
      ? (JSON.parse(this.#text.slice(start, this.#position)) as string)
      : this.#text.slice(start + 1, this.#position - 1);
    return this.#isStorable(value, start) ? value : undefined;
  }

  #isStorable(value: string, position: number): boolean {
    if (value.includes("\0")) {
      return this.#refuse("the text contains the character NUL (\\u0000), which cannot be stored; remove it", position);
    }
    if (value.isWellFormed()) return true;
    return this.#refuse(
      "the text contains half of a surrogate pair (\\ud800 to \\udfff), which is not a character; remove it",
      position,
    );
  }

  #isHarmlessKey(key: string, position: number): boolean {
    const holder = this.#path.at(-1);
    if (key !== "__proto__" && !(key === "prototype" && holder === "constructor")) return true;
    return this.#refuse(`the key ${quoted(key)} is not allowed here; use another name`, position);
  }

  #number(): boolean {
    const start = this.#position;
    if (!this.#skip(numberToken)) return this.#unexpected("a value");
    const token = this.#text.slice(start, this.#position);
    const value = Number(token);
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
      return this.#refuse(
        `the number is beyond ±${Number.MAX_SAFE_INTEGER} and would be changed; send it as a string`,
        start,
      );
    }
    if (value === 0 && hasDigitsButZero.test(token)) {
      return this.#refuse("the number is so small that it would become 0; send 0, or send it as a string", start);
    }
    return true;
  }

  #take(character: string): boolean {
    if (this.#text[this.#position] !== character) return false;
    this.#position++;
    return true;
  }

  /** Moves the position to the end of the text that the pattern matches here. Returns false when the pattern does not match. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#position;
    const match = pattern.test(this.#text);
    if (match) this.#position = pattern.lastIndex;
    return match;
  }

  #unexpected(expected: string): false {
    const code = this.#text.codePointAt(this.#position);
    const found =
      code === undefined ? "ends too early" : `has an unexpected ${JSON.stringify(String.fromCodePoint(code))}`;
    const detail = `is not JSON: it ${found} at ${this.#place()} (offset ${this.#position}); expected ${expected}`;
    this.problem = { pointer: "", detail, textOffset: this.#position };
    return false;
  }

  #place(): string {
    return positionsOf(this.#text, [this.#position]).map(describePosition).join();
  }

  #refuse(detail: string, textOffset = this.#position): false {
    this.problem = { pointer: pointerOf(this.#path), detail, textOffset };
    return false;
  }
}

const repeatedKey = "occurs twice in this object; keep one of the two";
const byteOrderMark = "\ufeff";
// All these patterns except the last one are sticky, so each matches only at the position of the walk. All of them take linear time.
const whitespace = /[ \t\n\r]*/y;
const plainCharacters = /[ !#-[\]-\uffff]*/y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const numberToken = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
const literalName = /true|false|null/y;
const hasDigitsButZero = /^[^eE]*[1-9]/;
