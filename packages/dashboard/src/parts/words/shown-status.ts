import type { ListedJob } from "../../api/jobs.ts";
import type { ShownStatus } from "./StatusBadge.tsx";

/** A RUNNING job that waits for events is shown with a status of its own. */
export function shownStatus({ status, awaitingEventIds }: Pick<ListedJob, "status" | "awaitingEventIds">): ShownStatus {
  return awaitingEventIds === undefined ? status : "WAITING";
}
