import type { JsonValue } from "./json.ts";

/**
 * A JSON value that is kept as text. It is for code that only passes the value on, so that a large value is neither parsed nor made into text again.
 */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** `JSON.stringify` calls this method, so it writes the value and not an object with the field `text`. */
  toJSON(): JsonValue {
    return JSON.parse(this.text) as JsonValue;
  }
}

/** A value as an answer shows it. */
export type ShownValue = JsonValue | JsonText;
