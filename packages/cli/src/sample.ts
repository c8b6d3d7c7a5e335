import { readFileSync } from "node:fs";
import { print } from "./terminal.ts";

/** Prints a definition to begin with: the sample's, by another name where one is given. */
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
