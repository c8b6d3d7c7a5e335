import fc from "fast-check";
import { scope } from "./scope.ts";

/**
 * Properties try the same values in each run, so that `npm test` fails for a change and never for chance. The whole matrix tries others each time: a run
 * that fails there prints its seed.
 */
if (scope !== "all") fc.configureGlobal({ seed: 20_261_122 });
