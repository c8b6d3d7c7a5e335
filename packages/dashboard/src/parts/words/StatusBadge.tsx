import "./StatusBadge.css";
import { texts } from "../../texts/texts.ts";
import { Icon, type IconName } from "../layout/Icon.tsx";

/** The statuses of a job, and the more precise ones that are shown for a RUNNING job. */
export type ShownStatus = keyof typeof texts.status;

const icons: Readonly<Record<ShownStatus, IconName>> = {
  PENDING: "clock",
  RUNNING: "job",
  WAITING: "hourglass",
  SLEEPING: "moon",
  RETRYING: "retry",
  SUCCEEDED: "check",
  FAILED: "cross",
  CANCELLED: "ban",
};

/** Shows the status by a word and a shape, and not only by its colour. */
export function StatusBadge({ status }: { readonly status: ShownStatus }) {
  return (
    <span className={`status-badge status-${status.toLowerCase()}`}>
      <Icon name={icons[status]} />
      {texts.status[status]}
    </span>
  );
}
