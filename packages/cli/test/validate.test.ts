import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeFinding } from "../src/output/definition-findings.ts";
import { run } from "./process.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-validate-"));
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

test("validate needs no service: each problem has its file, line and column, and a mark below the line", async () => {
  const sample = readFileSync(resolve(import.meta.dirname, "../../../examples/order-approval/workflow.json"), "utf8");
  const file = await fileWith(sample);
  expect(await run({}, "validate", file)).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^The definition is valid\.\n$/m),
  });

  const output = '\t"output": "${ merge(result, {\'sku\': result.sku.toUpperCase()}) }"';
  const wrong = sample.replace('"transitionToStep": "ship"', () =>
    ['"transitionToStep": "shipp"', '\t"retries": 3', output].join(",\n"),
  );
  const line = wrong.slice(0, wrong.indexOf('"transitionToStep": "shipp"')).split("\n").length;
  await writeFile(file, wrong);
  expect(await run({}, "validate", file)).toEqual({
    code: 1,
    output: expect.any(String),
    complaint: expect.stringContaining(
      [
        "stepwell: The definition is not valid: 3 errors.",
        `${file}:${line}:7: error: /steps/1/transitionToStep there is no step \`shipp\`; did you mean \`ship\`?`,
        '        "transitionToStep": "shipp",',
        "        ^",
        `${file}:${line + 1}:2: error: /steps/1/retries is not a field of a step; \`retries\` is \`retry.maxAttempts\` (the first attempt counts too) here`,
        '  \t"retries": 3,',
        "  \t^",
        `${file}:${line + 2}:${output.indexOf("toUpper") + 1}: error: /steps/1/output there is no function \`toUpperCase\`; \`toUpperCase\` is \`upper\` here`,
        `  ${output}`,
        `  \t${" ".repeat(output.indexOf("toUpper") - 1)}^`,
        "",
      ].join("\n"),
    ),
  });
});

test("validate shows only the relevant part of a line that is as long as the definition", () => {
  const text = `${"x".repeat(500)}!${"y".repeat(500)}`;
  const finding = { pointer: "", detail: "is wrong", line: 1, column: 501 };
  expect(describeFinding("a.json", text, "error", finding).split("\n")).toEqual([
    "a.json:1:501: error: is wrong",
    `  ${"x".repeat(60)}!${"y".repeat(39)}`,
    `  ${" ".repeat(60)}^`,
  ]);
});

inWholeMatrix(() => {
  test("a definition in another workflow language is reported as such, also by deploy, which cannot send a definition without a workflow name", async () => {
    const states = { StartAt: "A", States: { A: { Type: "Pass", End: true } } };
    const file = await fileWith(JSON.stringify(states));
    const nowhere = { STEPWELL_URL: "http://127.0.0.1:9", STEPWELL_TOKEN: "t", STEPWELL_ORGANIZATION: "o" };
    for (const command of ["validate", "deploy"]) {
      const { code, complaint } = await run(nowhere, command, file);
      expect({ code, complaint }).toMatchObject({
        code: 1,
        complaint: expect.stringMatching(
          /1 error\.\n.*:1:16: error: \/States this is an Amazon States Language state machine/,
        ),
      });
    }
  });
});

async function fileWith(text: string): Promise<string> {
  const file = join(directory, "definition.json");
  await writeFile(file, text);
  return file;
}
