import { renderExecutor } from "../../server/src/http/workflows/executors.ts";
import { catalog } from "./catalog.ts";

/** What ListExecutors answers under default settings. */
export const listedExecutors = [...catalog.values()].map(renderExecutor);
