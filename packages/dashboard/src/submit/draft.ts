import { readJson } from "../parts/data/read-json.ts";
import type { FieldKind, SchemaField } from "./schema-field.ts";

/** Text that was typed but is not a value of the field's kind yet. */
export class Unfinished {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** In JSON, it appears as the text that was typed. */
  toJSON(): string {
    return this.text;
  }
}

/** A JSON value while it is being typed. Parts that are left out are `undefined`. */
export type Draft = unknown;

/**
 * Returns the draft with which a form begins. A field with a default has that value. An optional field without a default is left out. A required
 * field without a default begins as follows: texts, lists and JSON values are empty, objects have the drafts of their fields, and a field that can
 * have only one value has that value. The rest is left out until the user fills it in.
 */
export function emptyDraft(field: SchemaField): Draft {
  if (field.default !== undefined) return field.default;
  if (!field.isRequired) return undefined;
  switch (field.kind) {
    case "text":
      return "";
    case "choice":
      return field.choices?.length === 1 ? field.choices[0] : undefined;
    case "null":
      return null;
    case "list":
      return [];
    case "json":
      return {};
    case "object":
      return Object.fromEntries(
        (field.fields ?? []).flatMap((one) => {
          const draft = emptyDraft(one);
          return draft === undefined ? [] : [[one.name, draft]];
        }),
      );
    default:
      return undefined;
  }
}

export interface DraftProblem {
  readonly pointer: string;
  readonly kind: "missing" | "unfinished";
  /** The text that is not a value yet, and the kind of value that it should become. */
  readonly text?: string;
  readonly of?: FieldKind;
}

/** Returns the problems that prevent a draft from being sent. The service checks the rest of the schema. */
export function problemsOf(field: SchemaField, draft: Draft, pointer = ""): DraftProblem[] {
  if (draft === undefined) return field.isRequired ? [{ pointer, kind: "missing" }] : [];
  if (draft instanceof Unfinished)
    return [{ pointer, kind: "unfinished", text: draft.text, of: (variantOf(field, draft) ?? field).kind }];
  if (field.kind === "union") {
    const variant = variantOf(field, draft);
    return variant === undefined ? [] : problemsOf(variant, draft, pointer);
  }
  if (field.kind === "object") {
    return (field.fields ?? []).flatMap((one) =>
      problemsOf(one, partOf(draft, one.name), `${pointer}/${token(one.name)}`),
    );
  }
  const { item } = field;
  if (field.kind === "list" && item !== undefined && Array.isArray(draft)) {
    return draft.flatMap((entry, index) => problemsOf(item, entry, `${pointer}/${index}`));
  }
  return [];
}

/** Returns the variant of a union that fits a draft. Undefined if no variant fits, and for a field that is not a union. */
export function variantOf({ variants }: SchemaField, draft: Draft): SchemaField | undefined {
  return variants?.find((variant) => isOf(variant, draft));
}

/** Tells whether a draft can be a value of a field, judging by the field's kind, its choices, and those properties that can have only one value. */
export function isOf(field: SchemaField, draft: Draft): boolean {
  if (draft === undefined) return false;
  if (draft instanceof Unfinished) return ["number", "integer", "json"].includes(field.kind);
  switch (field.kind) {
    case "text":
      return typeof draft === "string";
    case "number":
      return typeof draft === "number";
    case "integer":
      return Number.isInteger(draft);
    case "boolean":
      return typeof draft === "boolean";
    case "null":
      return draft === null;
    case "choice":
      return (field.choices ?? []).some((choice) => JSON.stringify(choice) === JSON.stringify(draft));
    case "list":
      return Array.isArray(draft);
    case "object": {
      if (typeof draft !== "object" || draft === null || Array.isArray(draft)) return false;
      const fixed = (field.fields ?? []).filter(({ kind, choices }) => kind === "choice" && choices?.length === 1);
      return fixed.every((one) => !Object.hasOwn(draft, one.name) || isOf(one, partOf(draft, one.name)));
    }
    case "union":
      return variantOf(field, draft) !== undefined;
    case "json":
      return true;
  }
}

export function partOf(draft: Draft, name: string): Draft {
  return typeof draft === "object" && draft !== null && Object.hasOwn(draft, name)
    ? (draft as Record<string, Draft>)[name]
    : undefined;
}

/**
 * Returns the draft with this part changed, or without it if `part` is undefined. The parts are not assigned one by one, since a property may be
 * called `__proto__`.
 */
export function withPart(draft: Draft, name: string, part: Draft): Draft {
  const entries = Object.entries(typeof draft === "object" && draft !== null ? draft : {}).filter(
    ([key]) => key !== name,
  );
  return Object.fromEntries(part === undefined ? entries : [...entries, [name, part]]);
}

/** Writes the name of a property as a part of a JSON pointer. */
export function token(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Reads a typed number as JSON writes it: `1.5` is a number, and `1,5` is unfinished text. An empty text is left out. */
export function numberDraft(text: string, isInteger: boolean): Draft {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const isNumber = isInteger ? /^-?\d+$/.test(trimmed) : /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(trimmed);
  // An infinite number would be sent as null.
  return isNumber && Number.isFinite(Number(trimmed)) ? Number(trimmed) : new Unfinished(text);
}

export function jsonDraft(text: string): Draft {
  if (text.trim() === "") return undefined;
  const read = readJson(text);
  return read === undefined ? new Unfinished(text) : read.value;
}

export function textOfDraft(draft: Draft): string {
  if (draft instanceof Unfinished) return draft.text;
  return draft === undefined ? "" : JSON.stringify(draft, null, 2);
}
