import { readConfig } from "../../server/src/config.ts";
import { executorCatalog } from "../../server/src/engine/executors/catalog.ts";
import { definitionLimits } from "../../server/src/engine/plans/definition-limits.ts";

const config = readConfig({});

/** The executors of a service with default settings, and its limits for definitions. */
export const catalog = executorCatalog(config);
export const limits = definitionLimits(config);
