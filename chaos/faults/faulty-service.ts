import { openStore } from "@stepwell/server";
import { dev } from "../../packages/cli/dist/dev/dev.js";
import { serve } from "../../packages/cli/dist/dev/serve.js";
import { breakSync, faults, withFault } from "./faulty-store.ts";

/** `node faulty-service.ts FAULT dev|serve` runs the command `dev` or `serve` of the command line over a store with a planted fault. */
const [name, command] = process.argv.slice(2);
const fault = faults.find((candidate) => candidate === name);
if (fault === undefined) throw new Error(`Name one fault: ${faults.join(", ")}.`);
if (fault === "no-sync") breakSync();
const start = command === "serve" ? serve : dev;
await start({ open: async (config, logger) => withFault(await openStore(config, logger), fault) });
