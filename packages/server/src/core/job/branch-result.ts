import type { JsonValue } from "../json/json.ts";
import type { BranchError, StepError } from "./job-state.ts";

/** The output of a branch, or its failure if the fork collects failures. */
export type BranchResult = { readonly output: JsonValue } | { readonly error: BranchError };

/**
 * Makes the failure of a branch from the failure of its step. If the step failed because of a branch or a child job of its own, returns that cause.
 */
export function branchErrorOf({ code, message, type, cause }: StepError, step: string, branch: string): BranchError {
  return cause ?? { code, message, ...(type !== undefined && { type }), step, branch };
}

/** A branch's result that gets a row of its own, next to the large values of the job. */
export interface NumberedResult {
  readonly valueNumber: number;
  readonly result: BranchResult;
}

/** Results that were read, by their numbers. They are passed to the state machine together with the job, as payloads are. */
export type BranchResults = ReadonlyMap<number, BranchResult>;

export const noResults: BranchResults = new Map();

/** The numbers of results begin here. A job's other values are numbered by its history entries, and those numbers never become this large. */
export const firstNumberOfResults = 1_000_000_000;

/**
 * Once a job has used this many numbers, it enters no further fork. At most a thousand forks are open then, and each may use 10,000 more numbers. All
 * of these numbers fit into PostgreSQL's `integer`.
 */
export const maxResultNumbers = 1_000_000_000;
