import { parentPort, workerData } from "node:worker_threads";
import type { Config } from "../../config.ts";
import { parseDefinition } from "../../core/definition/definition.ts";
import { executorCatalog } from "../executors/catalog.ts";
import type { DefinitionFindings } from "./definition-checks.ts";
import { definitionLimits } from "./definition-limits.ts";

/** The entry of the thread that checks definitions (`definition-checks.ts`): a text comes in, what was found goes out. */
const { settings, urls } = workerData as { readonly settings: Config; readonly urls: Readonly<Record<string, string>> };
const config: Config = {
  ...settings,
  ...Object.fromEntries(Object.entries(urls).map(([name, href]) => [name, new URL(href)])),
};
const executors = executorCatalog(config);
const limits = definitionLimits(config);

parentPort?.on("message", (text: string) => parentPort?.postMessage(check(text)));

function check(text: string): DefinitionFindings {
  const parsed = parseDefinition(text, executors, limits);
  return { problems: "problems" in parsed ? parsed.problems : [], warnings: parsed.warnings };
}
