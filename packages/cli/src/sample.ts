import { readFileSync } from "node:fs";
import { print } from "./terminal.ts";

/** Prints the sample's definition, under the name that was asked for. */
export function sample(options: { name: string }): void {
  print(
    sampleDefinition()
      .replace(JSON.stringify(sampleName), () => JSON.stringify(options.name))
      .trimEnd(),
  );
}

export const sampleName = "order-approval";

/** The build puts the sample beside this file, so that it is in the package too. */
export function sampleDefinition(): string {
  return readFileSync(new URL(`examples/${sampleName}/workflow.json`, import.meta.url), "utf8");
}
