import type { StepError } from "../../core/job/job-state.ts";
import type { CallFailure } from "./executor.ts";

export function failed(kind: CallFailure["kind"], error: StepError): CallFailure {
  return { type: "failed", kind, error };
}

/**
 * Shortens a text from outside to a length that people can read. Removes NUL, which PostgreSQL refuses, and replaces half surrogate pairs by U+FFFD.
 */
export function bounded(text: string, maxLength = 1_000): string {
  const isLong = text.length > maxLength;
  return `${text.slice(0, maxLength)}${isLong ? "…" : ""}`.toWellFormed().replaceAll("\0", "");
}
