import { MIMEType } from "node:util";
import { type JsonValue, parseJson } from "../../../core/json/json.ts";
import { bounded } from "../call-failure.ts";
import { UnreadableBodyError } from "./http-body.ts";

/**
 * Converts a body to a JSON value, by its content type: JSON is parsed, text stays text, everything else becomes `{base64}`. If the content
 * type is missing or cannot be parsed, a body that is valid UTF-8 without NUL counts as text. An empty body becomes null.
 */
export function contentOf(bytes: Buffer, contentType: string | undefined, maxJsonDepth: number): JsonValue {
  if (bytes.length === 0) return null;
  const type = mimeTypeOf(contentType);
  if (type === undefined) return textIn(bytes, "utf-8") ?? { base64: bytes.toString("base64") };
  const kind = kindOf(type);
  if (kind === "binary") return { base64: bytes.toString("base64") };
  const charset = type.params.get("charset") ?? "utf-8";
  const text = textIn(bytes, charset);
  if (text === undefined)
    throw new UnreadableBodyError(`is not a text in ${bounded(charset, 40)}, or contains the character NUL`);
  return kind === "text" ? text : jsonIn(text, maxJsonDepth);
}

/** Converts a body to text for people, even when it is damaged; empty unless its content type says that it is text or JSON. */
export function readableText(bytes: Buffer, contentType: string | undefined): string {
  const type = mimeTypeOf(contentType);
  return type === undefined || kindOf(type) === "binary" ? "" : bytes.toString("utf8");
}

function mimeTypeOf(contentType: string | undefined): MIMEType | undefined {
  try {
    return contentType === undefined ? undefined : new MIMEType(contentType);
  } catch {
    return undefined;
  }
}

function kindOf({ type, subtype, essence }: MIMEType): "json" | "text" | "binary" {
  if (essence === "application/json" || essence === "text/json" || subtype.endsWith("+json")) return "json";
  return type === "text" || subtype.endsWith("+xml") || textTypes.has(essence) ? "text" : "binary";
}

const textTypes = new Set([
  "application/graphql",
  "application/javascript",
  "application/jsonl",
  "application/sql",
  "application/toml",
  "application/x-ndjson",
  "application/x-www-form-urlencoded",
  "application/xml",
  "application/yaml",
]);

/**
 * Decodes text. Undefined for bytes that are invalid in this charset, for a charset that the platform does not know, and for text with NUL, which the
 * store cannot hold.
 */
function textIn(bytes: Buffer, charset: string): string | undefined {
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

function jsonIn(text: string, maxDepth: number): JsonValue {
  const parsed = parseJson(text, { maxDepth });
  if ("value" in parsed) return parsed.value;
  const { pointer, detail } = parsed.problem;
  throw new UnreadableBodyError(`cannot be read as JSON: ${pointer === "" ? detail : `at ${pointer}: ${detail}`}`);
}
