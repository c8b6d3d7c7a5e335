import { texts } from "../../texts/texts.ts";
import { readJson } from "./read-json.ts";

/**
 * Returns a sentence that says where a text stops being JSON, or that one of its numbers is too large; undefined for a text that can be read. The
 * parser of the browser is not used for this: each browser words its message differently, and not every browser gives the place.
 */
export function jsonProblemOf(text: string): string | undefined {
  if (readJson(text) !== undefined) return undefined;
  const words = texts.json;
  const offset = syntaxErrorIn(text);
  if (offset === undefined) return words.numberTooLarge;
  const lines = text.slice(0, offset).split("\n");
  return words.syntaxError(lines.length, (lines.at(-1)?.length ?? 0) + 1);
}

type Expected = "value" | "valueOrEnd" | "name" | "nameOrEnd" | "colon" | "commaOrEnd";

const space = /[ \t\r\n]*/y;
/** The valid beginning of a text in quotes. */
const openText = /"(?:[^"\\\p{Cc}]|[\x7F-\x9F]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*/uy;
const token = new RegExp(
  String.raw`[{}[\],:]|${openText.source}"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null`,
  "uy",
);

/** Returns the offset at which a text stops being JSON. If the text only ends too early, this is its end. Undefined for a text that is JSON. */
function syntaxErrorIn(text: string): number | undefined {
  const open: string[] = [];
  let expected: Expected = "value";
  let at = endOf(space, text, 0);
  while (at < text.length) {
    const end = endOf(token, text, at);
    const next: Expected | undefined = end === at ? undefined : after(text.slice(at, end), expected, open);
    if (next === undefined) return end === at ? endOf(openText, text, at) : at;
    expected = next;
    at = endOf(space, text, end);
  }
  return open.length === 0 && expected === "commaOrEnd" ? undefined : at;
}

/** Returns the end of the match that begins at `at`. If the pattern does not match there, returns `at`. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Returns what may follow after `token`; undefined if `token` itself is not allowed here. `open` has the brackets that are open. */
function after(token: string, expected: Expected, open: string[]): Expected | undefined {
  const mayEnd = expected === "commaOrEnd" || expected === "valueOrEnd" || expected === "nameOrEnd";
  if (token === "}" || token === "]") {
    const isRight = mayEnd && open.at(-1) === (token === "}" ? "{" : "[");
    return isRight && open.pop() !== undefined ? "commaOrEnd" : undefined;
  }
  if (token === ",") {
    if (expected !== "commaOrEnd" || open.length === 0) return undefined;
    return open.at(-1) === "{" ? "name" : "value";
  }
  if (token === ":") return expected === "colon" ? "value" : undefined;
  if (expected === "name" || expected === "nameOrEnd") return token.startsWith('"') ? "colon" : undefined;
  if (expected !== "value" && expected !== "valueOrEnd") return undefined;
  if (token !== "{" && token !== "[") return "commaOrEnd";
  open.push(token);
  return token === "{" ? "nameOrEnd" : "valueOrEnd";
}
