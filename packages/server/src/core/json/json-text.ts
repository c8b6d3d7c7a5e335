import type { JsonValue } from "./json.ts";

/** A JSON value kept as text, for code that passes it on without reading it, so that a large value is neither parsed nor written again. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** JSON.stringify writes the value. */
  toJSON(): JsonValue {
    return JSON.parse(this.text) as JsonValue;
  }
}

/** A value in an answer. */
export type ShownValue = JsonValue | JsonText;
