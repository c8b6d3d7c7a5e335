import type { JsonValue } from "../../json/json.ts";
import { type Budget, problemOfSource } from "../budget.ts";
import { fail } from "../failure.ts";
import { jsonText } from "../json-text.ts";
import { occurrences } from "../text-search.ts";
import {
  booleanType,
  costOfTexts,
  isNonEmptyText,
  listOf,
  onlyValueOf,
  stringType,
  type Type,
  valuesOf,
} from "../types/type.ts";
import { anyKind, kinds, type Value } from "../value.ts";
import { defineFunction, type ExpressionFunction } from "./function.ts";

const text = { name: "text", kinds: kinds.string };

export const textFunctions: readonly ExpressionFunction[] = [
  defineFunction({
    name: "contains",
    forms: "method",
    parameters: [text, { name: "part", kinds: kinds.string }],
    call: ([all, part], budget) => part === "" || !occurrences(all as string, part as string, budget).next().done,
    type: () => booleanType,
    summary: "Whether the text contains the part.",
    example: ['"order-17".contains("-")', true],
  }),
  defineFunction({
    name: "startsWith",
    forms: "method",
    parameters: [text, { name: "part", kinds: kinds.string }],
    call: ([all, part], budget) => {
      budget.spendOnText((part as string).length);
      return (all as string).startsWith(part as string);
    },
    type: () => booleanType,
    summary: "Whether the text begins with the part.",
    example: ['"order-17".startsWith("order")', true],
  }),
  defineFunction({
    name: "endsWith",
    forms: "method",
    parameters: [text, { name: "part", kinds: kinds.string }],
    call: ([all, part], budget) => {
      budget.spendOnText((part as string).length);
      return (all as string).endsWith(part as string);
    },
    type: () => booleanType,
    summary: "Whether the text ends with the part.",
    example: ['"photo.png".endsWith(".png")', true],
  }),
  defineFunction({
    name: "matches",
    parameters: [text, { name: "pattern", kinds: kinds.string }],
    call: ([all, pattern], budget) => {
      const matcher = budget.matcher(pattern as string);
      budget.spend(matcher.costOf((all as string).length));
      return matcher.matches(all as string);
    },
    type: () => booleanType,
    mayFail: ([, pattern]) =>
      valuesOf(pattern as Type)?.every((source) => problemOfSource(source as string) === undefined)
        ? undefined
        : "the pattern might not be a regular expression in RE2 syntax; write it as a literal",
    mistake: ([, pattern]) => problemOfSource(onlyValueOf(pattern as Type)),
    typingCost: ([, pattern]) => costOfTexts(pattern as Type, typingUnitsPerPattern),
    summary:
      "Whether the pattern, a regular expression in RE2 syntax, matches anywhere in the text. Without the flag `(?m)`, `^` and `$` match only the start and the end of the text.",
    example: ['"AB-12".matches("^[A-Z]+-[0-9]+$")', true],
  }),
  defineFunction({
    name: "split",
    parameters: [text, { name: "separator", kinds: kinds.string }],
    call: ([all, separator], budget) => split(all as string, separator as string, budget),
    type: () => listOf(stringType),
    summary: 'The parts between the separators. The separator `""` gives the characters.',
    example: ['"a,b,c".split(",")', ["a", "b", "c"]],
  }),
  defineFunction({
    name: "replace",
    parameters: [text, { name: "part", kinds: kinds.string }, { name: "by", kinds: kinds.string }],
    call: ([all, part, by], budget) => {
      if (part === "") return fail("replaces the empty text; name the part to replace");
      return joinTexts(split(all as string, part as string, budget), by as string, budget);
    },
    type: () => stringType,
    mayFail: ([, part]) => (isNonEmptyText(part as Type) ? undefined : "the part to be replaced may be the empty text"),
    summary: "The text with every occurrence of the part replaced.",
    example: ['"2026-01-31".replace("-", "/")', "2026/01/31"],
  }),
  defineFunction({
    name: "lower",
    parameters: [text],
    call: ([all], budget) => {
      budget.spendOnText((all as string).length, charactersPerUnitOfCase);
      return (all as string).toLowerCase();
    },
    type: () => stringType,
    summary: "The text in lower case.",
    example: ['lower("Ann@Example.com")', "ann@example.com"],
  }),
  defineFunction({
    name: "upper",
    parameters: [text],
    call: ([all], budget) => {
      budget.spendOnText((all as string).length, charactersPerUnitOfCase);
      return (all as string).toUpperCase();
    },
    type: () => stringType,
    summary: "The text in upper case.",
    example: ['"eur".upper()', "EUR"],
  }),
  defineFunction({
    name: "trim",
    parameters: [text],
    call: ([all], budget) => {
      budget.spendOnText((all as string).length);
      return (all as string).trim();
    },
    type: () => stringType,
    summary: "The text without white space at its ends.",
    example: ['trim("  a b ")', "a b"],
  }),
  defineFunction({
    name: "join",
    parameters: [
      { name: "list", kinds: kinds.array },
      { name: "separator", kinds: kinds.string },
    ],
    optionalCount: 1,
    call: ([list, separator = ""], budget) =>
      joinTexts(
        (list as JsonValue[]).map((item) => textOf(item, budget)),
        separator as string,
        budget,
      ),
    type: () => stringType,
    summary: 'The items as one text, each as `text(item)`, with the separator (`""` when it is left out) between them.',
    example: ['["a", 1, true].join("-")', "a-1-true"],
  }),
  defineFunction({
    name: "text",
    forms: "function",
    parameters: [{ name: "value", kinds: anyKind }],
    call: ([value], budget) => textOf(value as Value, budget),
    type: () => stringType,
    summary:
      "Any value as text, in the form that a template writes into a longer text: a string as it is, a timestamp in RFC 3339, a duration in seconds as in `3.5s`, everything else as JSON in which the keys of each object are sorted.",
    example: ['text({"b": [1, null], "a": 2})', '{"a":2,"b":[1,null]}'],
  }),
  defineFunction({
    name: "string",
    forms: "function",
    parameters: [{ name: "value", kinds: anyKind & ~(kinds.array | kinds.object | kinds.null) }],
    call: ([value], budget) => textOf(value as Value, budget),
    type: () => stringType,
    summary: "A string, number, boolean, timestamp or duration as text.",
    example: ["string(1.5)", "1.5"],
  }),
];

/** Returns the text that a template writes for a value inside a longer text. */
export function textOf(value: Value, budget: Budget): string {
  return typeof value === "string" ? value : jsonText(value, budget);
}

function joinTexts(texts: readonly string[], separator: string, budget: Budget): string {
  const length = texts.reduce((sum, part) => sum + part.length, separator.length * Math.max(texts.length - 1, 0));
  budget.spend(texts.length);
  budget.spendOnText(length);
  return texts.join(separator);
}

function split(all: string, separator: string, budget: Budget): string[] {
  if (separator === "") {
    budget.spend(1 + all.length);
    return Array.from(all);
  }
  const parts: string[] = [];
  let start = 0;
  for (const position of occurrences(all, separator, budget)) {
    parts.push(all.slice(start, position));
    start = position + separator.length;
  }
  parts.push(all.slice(start));
  return parts;
}

const typingUnitsPerPattern = 10;
/** Changing the case of a letter takes longer outside ASCII. */
const charactersPerUnitOfCase = 4;
