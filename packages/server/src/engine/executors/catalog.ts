import type { Config } from "../../config.ts";
import { cloudFunction } from "./cloud-function.ts";
import { type Executor, executorMap } from "./executor.ts";
import { noop } from "./noop.ts";
import { waitForEvents } from "./wait-for-events.ts";

/** Every executor of the service: the one list to add to. */
export function executorCatalog(config: Config): ReadonlyMap<string, Executor> {
  return executorMap([noop, waitForEvents(config), cloudFunction(config)]);
}
