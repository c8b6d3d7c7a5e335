import { hasFormat } from "../../schema/formats/format.ts";
import { momentOf } from "../../time.ts";
import type { Budget } from "../budget.ts";
import { fail } from "../failure.ts";
import {
  casesOf,
  costOfTexts,
  durationType,
  mayBe,
  type Type,
  timestampType,
  valuesOf,
  wholeType,
} from "../types/type.ts";
import { Duration, kinds, Timestamp, type Value } from "../value.ts";
import { defineFunction, type ExpressionFunction } from "./function.ts";

export const timeFunctions: readonly ExpressionFunction[] = [
  defineFunction({
    name: "timestamp",
    forms: "function",
    parameters: [{ name: "text", kinds: kinds.string | kinds.timestamp }],
    call: ([value], budget) => toTimestamp(value as Value, budget),
    type: () => timestampType,
    mayFail: ([value]) => {
      if (!mayBe(value as Type, kinds.string) || isTimeText(value as Type)) return undefined;
      return "the text might not be a time; its schema can say `format: date-time`";
    },
    typingCost: ([value]) => costOfTexts(value as Type, 1),
    summary: "The time that is written in an RFC 3339 text, to the millisecond.",
    example: ['timestamp("2026-01-31T13:00:00+01:00")', "2026-01-31T12:00:00.000Z"],
  }),
  defineFunction({
    name: "duration",
    forms: "function",
    parameters: [{ name: "text", kinds: kinds.string | kinds.duration }],
    call: ([value], budget) => toDuration(value as Value, budget),
    type: () => durationType,
    mayFail: ([value]) => {
      if (!mayBe(value as Type, kinds.string)) return undefined;
      const isDurationText = textsOf(value as Type)?.every((text) => readDuration(text) !== undefined);
      return isDurationText ? undefined : "the text might not be a duration";
    },
    summary: "A span of time, written in hours, minutes, seconds and milliseconds: `1h30m`, `3.5s`, `-250ms`.",
    example: ['timestamp("2026-01-31T12:00:00Z") + duration("1h30m")', "2026-01-31T13:30:00.000Z"],
  }),
  part("getFullYear", "The year. This and all other parts of a time are in UTC.", 2026, (time) =>
    time.getUTCFullYear(),
  ),
  part("getMonth", "The month, from 0 for January, as in CEL.", 0, (time) => time.getUTCMonth()),
  part("getDate", "The day of the month, from 1.", 31, (time) => time.getUTCDate()),
  part("getDayOfMonth", "The day of the month, from 0.", 30, (time) => time.getUTCDate() - 1),
  part("getDayOfWeek", "The day of the week, from 0 for Sunday.", 6, (time) => time.getUTCDay()),
  part("getDayOfYear", "The day of the year, from 0.", 30, (time) => dayOfYear(time)),
  part("getHours", "The hour of a time, or a duration in whole hours.", 12, (time) => time.getUTCHours(), 3_600_000),
  part(
    "getMinutes",
    "The minute of a time, or a duration in whole minutes.",
    5,
    (time) => time.getUTCMinutes(),
    60_000,
  ),
  part("getSeconds", "The second of a time, or a duration in whole seconds.", 9, (time) => time.getUTCSeconds(), 1_000),
  part(
    "getMilliseconds",
    "The milliseconds within the second of a time, or a duration in milliseconds.",
    250,
    (time) => time.getUTCMilliseconds(),
    1,
  ),
];

/** Defines a method that returns a part of a time. With `unitMs`, the method also takes a duration and returns its number of whole units. */
function part(
  name: string,
  summary: string,
  value: number,
  read: (time: Date) => number,
  unitMs?: number,
): ExpressionFunction {
  return defineFunction({
    name,
    forms: "method",
    parameters: [{ name: "time", kinds: unitMs === undefined ? kinds.timestamp : kinds.timestamp | kinds.duration }],
    call: ([time], budget) => {
      budget.spend(unitsPerPart);
      if (time instanceof Duration) return Math.trunc(time.ms / (unitMs ?? 1)) + 0;
      return read(new Date((time as Timestamp).at));
    },
    type: () => wholeType,
    summary,
    example: [`timestamp("2026-01-31T12:05:09.25Z").${name}()`, value],
  });
}

/** Whether every possible text of the value is a time. */
function isTimeText(type: Type): boolean {
  const isConstant = textsOf(type)?.every((text) => hasFormat(text, "date-time"));
  return (
    isConstant ?? casesOf(type).every((known) => (known.types & kinds.string) === 0 || known.hasFormat("date-time"))
  );
}

/** The possible texts of the value, when they are known. */
function textsOf(type: Type): readonly string[] | undefined {
  return valuesOf({ schema: type.schema, times: 0 })?.filter((value) => typeof value === "string");
}

function toTimestamp(value: Value, budget: Budget): Timestamp {
  if (value instanceof Timestamp) return value;
  const text = value as string;
  budget.spendOnText(text.length, charactersPerUnit);
  budget.spend(unitsPerTime);
  if (!hasFormat(text, "date-time")) return fail("has a text that is not a time as in 2026-01-31T12:00:00Z (RFC 3339)");
  return new Timestamp(momentOf(text));
}

function toDuration(value: Value, budget: Budget): Duration {
  if (value instanceof Duration) return value;
  const text = value as string;
  budget.spendOnText(text.length, charactersPerUnit);
  budget.spend(unitsPerTime);
  const ms = readDuration(text);
  return ms === undefined
    ? fail("has a text that is not a duration such as 1h30m or 3.5s, or that does not come to whole milliseconds")
    : new Duration(ms);
}

/** The milliseconds of a text such as `1h30m`; undefined when the text is not a duration. */
function readDuration(text: string): number | undefined {
  const match = text.length > maxDurationLength ? null : durationText.exec(text);
  if (match === null) return undefined;
  const [, sign, hours = "0", minutes = "0", seconds = "0", milliseconds = "0"] = match;
  const ms = Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1_000 + Number(milliseconds);
  const whole = Math.round(ms);
  // A fraction such as 0.1 is not exact in binary. So a tiny difference from a whole number of milliseconds is allowed, and a larger one is not.
  if (Math.abs(ms - whole) > 1e-6 || Math.abs(whole) > Number.MAX_SAFE_INTEGER) return undefined;
  return sign === "-" ? -whole : whole;
}

function dayOfYear(time: Date): number {
  const start = new Date(time);
  start.setUTCMonth(0, 1);
  return Math.round((time.getTime() - start.getTime()) / 86_400_000);
}

const amount = "\\d+(?:\\.\\d+)?";
const durationText = new RegExp(
  `^([+-]?)(?=\\d)(?:(${amount})h)?(?:(${amount})m)?(?:(${amount})s)?(?:(${amount})ms)?$`,
);
const maxDurationLength = 60;
const charactersPerUnit = 4;
const unitsPerTime = 60;
const unitsPerPart = 8;
