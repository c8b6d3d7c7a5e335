/** The words of the definition language as the service knows them, for tests of pages that must offer the same words. */
export { neverRetried } from "../../server/src/core/definition/definition-timeouts.ts";
export { namedRoots, rootNames } from "../../server/src/core/expression/roots.ts";
export { formatNames } from "../../server/src/core/schema/formats/format.ts";
export { annotations, assertions } from "../../server/src/core/schema/parse/vocabulary.ts";
