import { readConfig } from "../../src/config.ts";
import { startService } from "../../src/service.ts";

/** A node in a process of its own, for a test that kills it. Configured by its environment, as every node. */
const service = await startService(readConfig(process.env));
process.send?.({ baseUrl: service.baseUrl });
process.once("disconnect", () => process.exit());
