import { parentPort, workerData } from "node:worker_threads";
import type { Config } from "../../config.ts";
import { type DefinitionToCheck, definitionCheck } from "./definition-check.ts";

/** The program of the thread that checks definitions (`definition-checks.ts`): it receives a definition and sends back the findings. */
const { settings, urls } = workerData as { readonly settings: Config; readonly urls: Readonly<Record<string, string>> };
const check = definitionCheck({
  ...settings,
  ...Object.fromEntries(Object.entries(urls).map(([name, href]) => [name, new URL(href)])),
});

parentPort?.on("message", (toCheck: DefinitionToCheck) => parentPort?.postMessage(check(toCheck)));
