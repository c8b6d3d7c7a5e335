import fc from "fast-check";
import { scope } from "./scope.ts";

/**
 * Properties try the same values in each run of `npm test`, so that it fails because of a change and never by chance. The whole matrix tries other
 * values each time; a run that fails there prints its seed.
 */
if (scope !== "all") fc.configureGlobal({ seed: 20_261_122 });
