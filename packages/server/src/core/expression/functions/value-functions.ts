import { v5 } from "uuid";
import { parseJson } from "../../json/json.ts";
import { newSchema } from "../../schema/node.ts";
import type { Budget } from "../budget.ts";
import { fail } from "../failure.ts";
import { anyType, mayBe, numberType, stringType, type Type, typeOfSchema, wholeType } from "../types/type.ts";
import { kinds, numberWithin, Timestamp, type Value } from "../value.ts";
import { defineFunction, type ExpressionFunction } from "./function.ts";

const text = { name: "text", kinds: kinds.string };

/** The functions that convert or derive values: numbers, JSON, base64, UUIDs. */
export const valueFunctions: readonly ExpressionFunction[] = [
  defineFunction({
    name: "int",
    forms: "function",
    parameters: [{ name: "value", kinds: kinds.number | kinds.string | kinds.timestamp }],
    call: ([value], budget) => toInt(value as Value, budget),
    type: () => wholeType,
    mayFail: ([value]) => (mayBe(value as Type, kinds.string) ? "the text might not be a whole number" : undefined),
    summary:
      "A number without its fraction, the whole number that is written in a text, or a timestamp's seconds since 1970.",
    example: ['int(7 / 2) + int("40")', 43],
  }),
  defineFunction({
    name: "double",
    forms: "function",
    parameters: [{ name: "value", kinds: kinds.number | kinds.string }],
    call: ([value], budget) => toNumber(value as number | string, budget),
    type: () => numberType,
    mayFail: ([value]) => (mayBe(value as Type, kinds.string) ? "the text might not be a number" : undefined),
    summary: "The number that a text holds in JSON's notation; a number stays as it is.",
    example: ['double("2.5") * 2', 5],
  }),
  defineFunction({
    name: "json",
    forms: "function",
    parameters: [text],
    call: ([source], budget) => {
      budget.spend(unitsPerDecoding + (source as string).length);
      const parsed = parseJson(source as string, { maxDepth: maxJsonDepth });
      // The detail of the problem could show a part of the text, which may be a secret.
      return "value" in parsed
        ? parsed.value
        : fail(`has a text that is not JSON (at its offset ${parsed.problem.textOffset})`);
    },
    type: () => anyType,
    mayFail: () => "the text might not be JSON",
    summary: "The value that is written in a JSON text.",
    example: ['json("{\\"a\\": [1]}").a[0]', 1],
  }),
  defineFunction({
    name: "base64.encode",
    forms: "function",
    parameters: [text],
    call: ([source], budget) => {
      budget.spendOnText((source as string).length, charactersPerUnit);
      return Buffer.from(source as string, "utf8").toString("base64");
    },
    type: () => stringType,
    summary: "The text, as UTF-8, in base64.",
    example: ['base64.encode("ann:secret")', "YW5uOnNlY3JldA=="],
  }),
  defineFunction({
    name: "base64.decode",
    forms: "function",
    parameters: [text],
    call: ([source], budget) => decode(source as string, budget),
    type: () => stringType,
    mayFail: () => "the text might not be base64 of UTF-8 text",
    summary:
      "The text that is encoded, as UTF-8, in a base64 text. The `=` at the end of the base64 text is optional, and the URL-safe form is also accepted.",
    example: ['base64.decode("YW5uOnNlY3JldA==")', "ann:secret"],
  }),
  defineFunction({
    name: "uuid",
    forms: "function",
    parameters: [{ name: "seed", kinds: kinds.string }],
    call: ([seed], budget) => {
      // Each character costs a whole unit, because hashing takes longer for a character outside ASCII.
      budget.spend(unitsPerHash + (seed as string).length);
      return v5(seed as string, namespace);
    },
    type: () => uuidType,
    summary: "A UUID (version 5 of RFC 9562) that is always the same for the same seed.",
    example: ['uuid("order-17") == uuid("order-" + text(17))', true],
  }),
];

/** The namespace of the UUIDs that expressions make. Users store these UUIDs, so the namespace never changes. */
const namespace = "6d0f6a54-6c0f-5f0e-9d3c-2f6f1f0b7e21";
const uuidType = typeOfSchema(
  newSchema({
    types: kinds.string,
    strings: { minLength: 36, maxLength: 36, pattern: undefined, format: "uuid" },
  }),
);

function toInt(value: Value, budget: Budget): number {
  if (value instanceof Timestamp) return Math.floor(value.at / 1000);
  if (typeof value === "number") return numberWithin(Math.trunc(value));
  budget.spend(unitsPerNumber);
  const source = value as string;
  return wholeNumber.test(source) ? numberWithin(Number(source)) : fail("has a text that is not a whole number");
}

function toNumber(value: number | string, budget: Budget): number {
  if (typeof value === "number") return value;
  budget.spendOnText(value.length);
  budget.spend(unitsPerNumber);
  return decimalNumber.test(value) ? numberWithin(Number(value)) : fail("has a text that is not a number");
}

function decode(source: string, budget: Budget): string {
  budget.spend(unitsPerDecoding);
  budget.spendOnText(source.length, charactersPerUnit);
  const bare = source.replace(/={0,2}$/, "");
  if (notInBase64.test(bare) || bare.length % 4 === 1) return fail("has a text that is not base64");
  const bytes = Buffer.from(bare, "base64");
  try {
    const decoded = utf8.decode(bytes);
    return decoded.includes("\0") ? fail("decodes to text with the character NUL, which cannot be stored") : decoded;
  } catch (error) {
    if (error instanceof TypeError) return fail("decodes to bytes that are not UTF-8 text");
    throw error;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const wholeNumber = /^[+-]?\d{1,17}$/;
const decimalNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const notInBase64 = /[^A-Za-z0-9+/_-]/;

/** The maximum number of levels of a JSON text. By default, the JSON of a request may have as many. */
const maxJsonDepth = 64;
/** Text that is not JSON, or not UTF-8, is detected by an error with a stack, which is slow. */
const unitsPerDecoding = 150;
const charactersPerUnit = 4;
const unitsPerHash = 150;
const unitsPerNumber = 8;
