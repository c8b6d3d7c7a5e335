import type { operations } from "../../../client/src/generated/api.ts";

/** The names of the document's operations. A table keyed by this type does not compile if it lacks an operation. */
export type OperationId = keyof operations;
