import { dashboards } from "./dashboards.ts";
import type { HostileTenant } from "./hostile-tenant.ts";
import { largeHistories } from "./large-histories.ts";
import { lockedRow } from "./locked-row.ts";
import { pendingJobs } from "./pending-jobs.ts";
import { silentWorkers } from "./silent-workers.ts";
import { slowSchemas } from "./slow-schemas.ts";
import { slowValues } from "./slow-values.ts";
import { unmatchedEvents } from "./unmatched-events.ts";
import { unreadableVersion } from "./unreadable-version.ts";
import { watchers } from "./watchers.ts";
import { wideForks } from "./wide-forks.ts";

/** The hostile tenants. None of them may harm a well-behaved organization (see `playNeighbours`). */
export const tenants: readonly HostileTenant[] = [
  slowSchemas,
  slowValues,
  largeHistories,
  unreadableVersion,
  dashboards,
  unmatchedEvents,
  pendingJobs,
  watchers,
  wideForks,
  silentWorkers,
  lockedRow,
];

export const tenantNames: readonly string[] = tenants.map(({ name }) => name);
