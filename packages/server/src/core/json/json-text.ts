import type { JsonValue } from "./json.ts";

/** A JSON value as its text, for whoever hands it on without looking into it: a large one is neither parsed nor written anew. */
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

/** A value for whoever shows it. */
export type ShownValue = JsonValue | JsonText;
