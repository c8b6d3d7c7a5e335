import type { ListedJob } from "../../api/jobs.ts";
import type { ShownStatus } from "./StatusBadge.tsx";

/** RUNNING says little: what waits for events is told apart. */
export function shownStatus({ status, awaitingEventIds }: Pick<ListedJob, "status" | "awaitingEventIds">): ShownStatus {
  return awaitingEventIds === undefined ? status : "WAITING";
}
