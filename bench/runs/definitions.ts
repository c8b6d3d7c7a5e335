import { costlyChecks, costlyPatterns } from "@stepwell/testing/costly/checks.ts";
import { costlyDefinitions, costlyExpressions, largestWithExpressions } from "@stepwell/testing/costly/definitions.ts";
import { cpuMsOf } from "@stepwell/testing/time/cpu-time.ts";
import { readConfig } from "../../packages/server/src/config.ts";
import { parseDefinition } from "../../packages/server/src/core/definition/definition.ts";
import { currentLanguage } from "../../packages/server/src/core/definition/language.ts";
import { compilePlan } from "../../packages/server/src/core/plan/plan.ts";
import { ProblemList } from "../../packages/server/src/core/problem.ts";
import { anything } from "../../packages/server/src/core/schema/node.ts";
import { compiled } from "../../packages/server/src/core/schema/patterns/matcher.ts";
import { readPattern } from "../../packages/server/src/core/schema/patterns/pattern.ts";
import { maxPatternWork } from "../../packages/server/src/core/schema/patterns/pattern-book.ts";
import { checkValue, parseSchemas } from "../../packages/server/src/core/schema/schema.ts";
import { executorCatalog } from "../../packages/server/src/engine/executors/catalog.ts";
import { definitionLimits } from "../../packages/server/src/engine/plans/definition-limits.ts";
import { rounded } from "../samples.ts";

export interface DefinitionsResult {
  readonly bench: "definitions";
  readonly subject:
    | "check of a value"
    | "pattern"
    | "check of a definition"
    | "compiling a definition"
    | "check of the largest definition with expressions"
    | "compiling the largest definition with expressions";
  /** The slowest definition, pattern or value of this subject (`packages/testing/src/costly`). */
  readonly slowest: string;
  /** The processor time, which hardly depends on other work on the machine. */
  readonly cpuMs: number;
  /** The time to compile a pattern, divided by its `work` (see `core/schema/patterns/pattern.ts`). */
  readonly usPerUnit?: number;
}

/** Measures the most expensive definitions, patterns and values that the bounds allow. The bounds were set with the help of these figures. */
export function runDefinitionsBench(runs: number, progress: (line: string) => void): DefinitionsResult[] {
  const config = readConfig({});
  const [executors, limits] = [executorCatalog(config), definitionLimits(config)];
  const measured = (subject: DefinitionsResult["subject"], name: string, work: () => unknown, units?: number) => {
    const cpuMs = cpuMsOf(work, runs);
    const usPerUnit = units === undefined ? {} : { usPerUnit: rounded((cpuMs * 1_000) / units) };
    progress(`${subject}: ${name.slice(0, 60)}: ${rounded(cpuMs)} ms`);
    return { bench: "definitions", subject, slowest: name, cpuMs: rounded(cpuMs), ...usPerUnit } as const;
  };
  const checks = costlyChecks().map(({ name, schema: raw, value }) => {
    const schema = parseSchemas({ raw }, "", new ProblemList(1), true).get("raw") ?? anything;
    // A value that fitted its schema in the previous check is not checked again. So each run checks another value in between.
    return measured("check of a value", name, () => [checkValue(anything, null), checkValue(schema, value)]);
  });
  // Compiled matchers are cached by their text, so each run has a text of its own.
  let run = 0;
  const patterns = costlyPatterns().flatMap((source) => {
    const { work } = readPattern(source);
    if (work > maxPatternWork) return [];
    const compile = () => {
      run += 1;
      return compiled(`${source}|${run}`, work);
    };
    return [measured("pattern", source, compile, work)];
  });
  const definitions = [...costlyDefinitions(), ...costlyExpressions()].map(([name, definition]) => ({
    name,
    text: JSON.stringify(definition),
  }));
  const found = definitions.map(({ name, text }) =>
    measured("check of a definition", name, () => parseDefinition(text, executors, limits)),
  );
  const taken = definitions.filter(({ text }) => "definition" in parseDefinition(text, executors, limits));
  const compile = (text: string) => {
    const parsed = parseDefinition(text, executors, limits, currentLanguage);
    return "definition" in parsed && compilePlan(parsed.definition);
  };
  const plans = taken.map(({ name, text }) => measured("compiling a definition", name, () => compile(text)));
  const largest = JSON.stringify(largestWithExpressions());
  const name = "500 steps with 7,485 expressions";
  const ofLargest = [
    [
      measured("check of the largest definition with expressions", name, () =>
        parseDefinition(largest, executors, limits),
      ),
    ],
    [measured("compiling the largest definition with expressions", name, () => compile(largest))],
  ];
  return [checks, patterns, found, plans, ...ofLargest].flatMap((results) =>
    results.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, 1),
  );
}
