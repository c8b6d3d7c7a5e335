import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { settings } from "../src/config.ts";
import { countSettings } from "../src/count-settings.ts";
import { sizeSettings } from "../src/size-settings.ts";

const root = resolve(import.meta.dirname, "../../..");
const rows = [...readFileSync(`${root}/docs/limits.md`, "utf8").matchAll(/^\| (.+) \| (.+) \| (`.+`) \|$/gm)].map(
  ([, what = "", number = "", heldBy = ""]) => ({ what, number, heldBy }),
);

test.each(rows)("the documented limit of $what is also $number in the code", ({ number, heldBy }) => {
  const [, path = "", name = "", value = ""] = /^`([^`]+)`(?:: `(\w+)(?: =|:) ([^`]+)`)?$/.exec(heldBy) ?? [];
  const held = name === "" ? settingOf(path) : { name, value: constantIn(path, name, value) };
  expect(inUnitOf(held.name, number)).toBe(held.value);
});

test("every setting that sets a bound is among the documented limits", () => {
  const documented = rows.map(({ heldBy }) => heldBy.replaceAll("`", ""));
  const bounds = [...Object.values(sizeSettings), ...Object.values(countSettings), ...Object.values(settings)]
    .map(({ variable }) => variable)
    .filter((variable) => /_MAX_|_PER_MINUTE$|_CACHE_MB$|_(HOURS|DAYS)$/.test(variable));
  expect(bounds.filter((variable) => !documented.includes(variable))).toEqual([]);
});

function settingOf(variable: string) {
  const setting = Object.values(settings).find((candidate) => candidate.variable === variable);
  if (setting === undefined) throw new Error(`There is no setting ${variable}.`);
  return { name: variable, value: Number(setting.fallback) };
}

/** Returns the value of a constant that the document quotes from the code. If the quote computes with other constants, their values are put in. */
function constantIn(path: string, name: string, value: string): number {
  const source = readFileSync(`${root}/packages/server/src/${path}`, "utf8");
  const values = new Map(
    [...source.matchAll(/const (\w+) = ([\w *]+);/g)].map(([, other = "", text = ""]) => [other, text]),
  );
  const factors = (text: string): number =>
    text
      .split("*")
      .map((factor) => factor.trim())
      .reduce(
        (product, factor) => product * (values.has(factor) ? factors(values.get(factor) ?? "") : numberOf(factor)),
        1,
      );
  const written = values.get(name) ?? new RegExp(`\\b${name}: ([\\d_]+)`).exec(source)?.[1] ?? "";
  expect(factors(value), `${name} in ${path}`).toBe(factors(written));
  return factors(written);
}

const bytes = { KiB: 1_024, MiB: 1_024 ** 2 };
const seconds = { second: 1, minute: 60, hour: 3_600, day: 86_400 };

/** Converts the number in a row of a table to the unit of the constant in the code. The name of a constant that is a time ends with its unit. */
function inUnitOf(name: string, text: string): number {
  const [, number = "", unit = ""] = /^([\d,]+) ?(\w*)$/.exec(text) ?? [];
  const count = numberOf(number);
  if (unit in bytes) return count * bytes[unit as keyof typeof bytes];
  const inSeconds = seconds[unit.replace(/s$/, "") as keyof typeof seconds];
  if (inSeconds === undefined) return count;
  const [, last = ""] = /(ms|seconds|hours|days)$/i.exec(name) ?? [];
  const perUnit = { ms: 0.001, seconds: 1, hours: 3_600, days: 86_400 }[last.toLowerCase()];
  if (perUnit === undefined) throw new Error(`${name} does not say its unit.`);
  return Math.round((count * inSeconds) / perUnit);
}

function numberOf(text: string): number {
  return Number(text.replaceAll(/[,_]/g, ""));
}
