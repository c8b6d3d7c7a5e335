import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type MetricPoint, metricQuery } from "../../api/metrics.ts";
import { OutdatedNote } from "../../parts/states/OutdatedNote.tsx";
import { type ShownStatus, StatusBadge } from "../../parts/words/StatusBadge.tsx";
import { locale, texts } from "../../texts/texts.ts";
import type { JobSearch } from "../jobs/job-search.ts";
import "./JobsNow.css";

const nowMs = 3_000;

/** The four numbers that an operator needs first in an incident. Each number is for one status, and leads to the list of jobs with that status. */
export function JobsNow({ organizationId }: { readonly organizationId: string }) {
  const { home } = texts;
  const running = useQuery(metricQuery(organizationId, { metric: "jobs_running" }, nowMs));
  const waiting = useQuery(metricQuery(organizationId, { metric: "jobs_waiting" }, nowMs));
  const failed = useQuery(metricQuery(organizationId, { metric: "jobs_failed" }));
  const succeeded = useQuery(metricQuery(organizationId, { metric: "jobs_succeeded" }));
  const waits = sumOf(waiting.data?.points);
  const runs = sumOf(running.data?.points);
  const moving = runs === undefined || waits === undefined ? undefined : Math.max(0, runs - waits);
  const isMinimum = running.data?.points.some(({ valueIsMinimum }) => valueIsMinimum === true) === true;
  const tiles: readonly Tile[] = [
    {
      status: "RUNNING",
      value: moving,
      isMinimum,
      hint: home.runningHint,
      search: { status: "RUNNING", isWaiting: false },
    },
    {
      status: "WAITING",
      value: waits,
      isMinimum,
      hint: home.waitingHint,
      search: { status: "RUNNING", isWaiting: true },
    },
    { status: "FAILED", value: sumOf(failed.data?.points), hint: home.failedHint, search: { status: "FAILED" } },
    {
      status: "SUCCEEDED",
      value: sumOf(succeeded.data?.points),
      hint: home.succeededHint,
      search: { status: "SUCCEEDED" },
    },
  ];
  return (
    <section aria-label={home.now}>
      <div className="jobs-now">
        {tiles.map(({ status, value, isMinimum, hint, search }) => (
          <Link
            key={status}
            className="jobs-now-tile"
            to="/app/organizations/$organizationId/jobs"
            params={{ organizationId }}
            search={search}
          >
            <StatusBadge status={status} />
            <strong className="jobs-now-count">{shownCount(value, isMinimum)}</strong>
            <span className="soft">{hint}</span>
          </Link>
        ))}
      </div>
      <OutdatedNote queries={[running, waiting, failed, succeeded]} />
    </section>
  );
}

interface Tile {
  readonly status: ShownStatus;
  readonly value: number | undefined;
  /** True when there may be more jobs, because the service stopped counting. */
  readonly isMinimum?: boolean;
  readonly hint: string;
  readonly search: JobSearch;
}

function shownCount(value: number | undefined, isMinimum = false): string {
  if (value === undefined) return "…";
  const count = value.toLocaleString(locale);
  return isMinimum ? texts.home.atLeast(count) : count;
}

function sumOf(points: readonly MetricPoint[] | undefined): number | undefined {
  return points?.reduce((sum, { value }) => sum + (value ?? 0), 0);
}
