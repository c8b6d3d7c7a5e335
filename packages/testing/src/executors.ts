import { renderExecutor } from "../../server/src/http/workflows/executors.ts";
import { catalog } from "./catalog.ts";

/** The answer of ListExecutors under default settings. */
export const listedExecutors = [...catalog.values()].map(renderExecutor);
