import { seedRollups } from "../../bench/runs/metrics.ts";
import { withoutReadLane } from "../faults/turned-off.ts";
import { type Ground, type HostileTenant, inTurn } from "./hostile-tenant.ts";

/** Shows a month of 10 million jobs on 12 dashboards, which load again as soon as they have loaded. */
export const dashboards: HostileTenant = {
  name: "dashboards",
  fix: {
    sentence:
      "Long reads have connections of their own, and organizations take turns on them and pause after costly reads.",
    turnedOffBy: withoutReadLane,
  },
  async prepare({ organizationId, requests, withStore }: Ground) {
    const to = Math.ceil(Date.now() / dayMs) * dayMs;
    await withStore(async (database) => void (await seedRollups(database, organizationId, to)));
    const from = new Date(to - 30 * dayMs).toISOString();
    const asked = metrics.map((metric) =>
      requests.get(
        `/organizations/${organizationId}/metrics?metric=${metric}&from=${from}&to=${new Date(to).toISOString()}`,
      ),
    );
    return (traffic) => traffic.keepAsking(12, inTurn(asked));
  },
};

const dayMs = 86_400_000;
const metrics = [
  "job_duration_seconds&aggregation=p50&bucket=hour",
  "job_duration_seconds&aggregation=p99&bucket=hour",
  "job_duration_seconds&aggregation=max&bucket=day",
  "jobs_succeeded&bucket=hour",
  "jobs_submitted&bucket=hour",
  "jobs_failed&bucket=day",
];
