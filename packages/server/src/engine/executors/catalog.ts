import type { Config } from "../../config.ts";
import { cloudFunction } from "./cloud-function/cloud-function.ts";
import { delay } from "./delay.ts";
import { type Executor, executorMap } from "./executor.ts";
import { forEach } from "./for-each.ts";
import { http } from "./http/http.ts";
import { job } from "./job.ts";
import { noop } from "./noop.ts";
import { parallel } from "./parallel.ts";
import { task } from "./task.ts";
import { transform } from "./transform.ts";
import { waitForEvents } from "./wait-for-events.ts";

/** All executors of the service. A new executor must be added here. */
export function executorCatalog(config: Config): ReadonlyMap<string, Executor> {
  return executorMap([
    noop,
    transform,
    delay,
    waitForEvents(config),
    cloudFunction(config),
    http(config),
    task,
    job(config),
    parallel(config),
    forEach,
  ]);
}
