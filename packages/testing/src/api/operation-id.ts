import type { operations } from "../../../client/src/generated/api.ts";

/** The operations of the document by their names. A table keyed by it that has no row for one of them does not compile. */
export type OperationId = keyof operations;
