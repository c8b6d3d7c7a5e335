import type { JobFilters } from "../../api/jobs.ts";
import { isTime } from "../../parts/words/local-time.ts";

/** The search part of the address of the list of jobs. It has filters of the API, under the same names. */
export type JobSearch = Pick<
  JobFilters,
  "status" | "workflowId" | "versionId" | "createdAfter" | "createdBefore" | "awaitingEventId" | "isWaiting" | "order"
>;

const statuses = ["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED"] as const;
const texts = ["workflowId", "versionId", "awaitingEventId"] as const;
const times = ["createdAfter", "createdBefore"] as const;

/** Leaves out unknown filters, unknown statuses and invalid times, so that an address with such a mistake still shows a list. */
export function parseJobSearch(search: Record<string, unknown>): JobSearch {
  const parsed: JobSearch = {};
  const status = statuses.find((one) => one === search.status);
  if (status !== undefined) parsed.status = status;
  for (const name of texts) {
    const value = search[name];
    if (typeof value === "string" && value !== "") parsed[name] = value;
  }
  for (const name of times) {
    const value = search[name];
    if (isTime(value)) parsed[name] = value;
  }
  // The value is a text in an address, and a boolean in a link of the dashboard itself.
  const isWaiting = String(search.isWaiting);
  if (isWaiting === "true" || isWaiting === "false") parsed.isWaiting = isWaiting === "true";
  if (search.order === "oldest") parsed.order = "oldest";
  return parsed;
}
