import { readFileSync } from "node:fs";
import { show } from "../output/terminal.ts";

/** Prints the definition of an example, under another name if one is given, or the program of a worker. */
export function sample(example: string, { name = example }: { name?: string }): void {
  const isProgram = workerNames.some((worker) => worker === example);
  const text = isProgram
    ? fileOf(`worker/${example}`)
    : sampleDefinition(example).replace(JSON.stringify(example), () => JSON.stringify(name));
  const content = text.trimEnd();
  show({ value: { example, text: content }, text: content, quiet: content });
}

/** The example that `stepwell dev` deploys. */
export const sampleName = "order-approval";

/** The examples by the names of their workflows, the simplest first. */
export const sampleNames = [
  sampleName,
  "approval",
  "polling",
  "webhook",
  "saga",
  "fan-out",
  "race",
  "parallel-saga",
  "worker",
  "child-jobs",
] as const;

/** Programs that do the tasks of the example `worker`. */
export const workerNames = ["worker.ts", "worker.py"] as const;

export function sampleDefinition(example: string = sampleName): string {
  return fileOf(`${example}/workflow.json`);
}

/** The build copies the examples into `dist`, so that they are in the package too. */
function fileOf(path: string): string {
  return readFileSync(new URL(`../examples/${path}`, import.meta.url), "utf8");
}
