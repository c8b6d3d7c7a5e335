import type { JsonValue } from "../json/json.ts";
import type { BranchError, StepError } from "./job-state.ts";

/** The output of a branch, or its failure where failures are collected. */
export type BranchResult = { readonly output: JsonValue } | { readonly error: BranchError };

/** The failure of a branch, from the failure of its step. If that was caused in a branch or a child of the step, the cause is passed on. */
export function branchErrorOf({ code, message, type, cause }: StepError, step: string, branch: string): BranchError {
  return cause ?? { code, message, ...(type !== undefined && { type }), step, branch };
}

/** The result of a branch that is to have a row of its own, beside the large values of the job. */
export interface NumberedResult {
  readonly valueNumber: number;
  readonly result: BranchResult;
}

/** Results that were read, by their numbers. They come to the state machine with the job, as payloads do. */
export type BranchResults = ReadonlyMap<number, BranchResult>;

export const noResults: BranchResults = new Map();

/** The other values of a job have sequence numbers of its history, which never become this large. */
export const firstNumberOfResults = 1_000_000_000;

/**
 * Once a job has given this many numbers, it enters no further fork. The forks that are open then, a thousand at most, may take 10,000 more each; all
 * of these numbers fit PostgreSQL's `integer`.
 */
export const maxResultNumbers = 1_000_000_000;
