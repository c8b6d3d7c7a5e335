import type { HistoryEntry } from "@stepwell/client";
import { inOneLine } from "./table.ts";

/** Formats an entry of a job's history as one line: when, what, and where. */
export function describeEntry(entry: HistoryEntry): string {
  const { at, type, branch, step, visit, attempt, eventId, eventIds, outcome, error, retryAt, next } = entry;
  const facts = [
    step === undefined ? undefined : visit === undefined || visit === 1 ? step : `${step} (visit ${visit})`,
    branch === undefined || branch === "" ? undefined : `in ${branch}`,
    attempt === undefined || attempt === 1 ? undefined : `attempt ${attempt}`,
    eventId === undefined ? undefined : `${eventId}${outcome === undefined ? "" : `, ${outcome}`}`,
    eventIds === undefined ? undefined : `for ${eventIds.join(", ")}`,
    error === undefined ? undefined : `${error.code}: ${error.message}`,
    retryAt === undefined ? undefined : `again at ${retryAt}`,
    typeof next === "string" ? `then ${next}` : undefined,
  ];
  const known = facts.filter((fact) => fact !== undefined).map(inOneLine);
  return [at, type.padEnd(typeWidth), known.join("  ")].join("  ").trimEnd();
}

const typeWidth = "step.attemptStarted".length;
