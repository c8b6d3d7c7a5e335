import { useQuery } from "@tanstack/react-query";
import { type MetricPoint, metricQuery } from "../../api/metrics.ts";
import { locale, texts } from "../../texts/texts.ts";
import { formatDuration } from "../words/duration.ts";
import { Chart } from "./Chart.tsx";
import "./JobCharts.css";
import { Panel } from "../layout/Panel.tsx";
import { OutdatedNote } from "../states/OutdatedNote.tsx";
import { Problem } from "../states/Problem.tsx";

interface JobChartsProps {
  readonly organizationId: string;
  /** If set, only the jobs of this workflow are shown. */
  readonly workflowId?: string;
}

/** Shows for each hour of the last day how many jobs succeeded and failed, and how long the succeeded ones took. */
export function JobCharts({ organizationId, workflowId }: JobChartsProps) {
  const about = workflowId === undefined ? {} : { workflowId };
  const succeeded = useQuery(metricQuery(organizationId, { metric: "jobs_succeeded", ...about }));
  const failed = useQuery(metricQuery(organizationId, { metric: "jobs_failed", ...about }));
  const median = useQuery(metricQuery(organizationId, { ...duration, aggregation: "p50", ...about }));
  const slow = useQuery(metricQuery(organizationId, { ...duration, aggregation: "p95", ...about }));
  const error = succeeded.error ?? failed.error ?? median.error ?? slow.error;
  const { charts } = texts;
  const queries = [succeeded, failed, median, slow];
  if (error !== null && queries.some(({ data }) => data === undefined)) {
    return <Problem error={error} onRetry={() => queries.forEach((query) => void query.refetch())} />;
  }
  const isEmpty = queries.every(({ data }) => data?.points.every(({ value }) => value === null || value === 0));
  const none = isEmpty ? charts.none : undefined;
  return (
    <div>
      <OutdatedNote queries={queries} />
      <div className="job-charts">
        <Panel title={charts.throughput}>
          <Chart
            label={charts.throughputLabel}
            kind="bars"
            times={timesOf(succeeded.data?.points)}
            none={none}
            series={[
              { label: charts.succeeded, colour: "--success-strong", values: valuesOf(succeeded.data?.points) },
              { label: charts.failed, colour: "--failure-strong", values: valuesOf(failed.data?.points) },
            ]}
            format={(value) => value.toLocaleString(locale)}
            formatTime={formatHour}
          />
        </Panel>
        <Panel title={charts.duration}>
          <Chart
            label={charts.durationLabel}
            kind="lines"
            times={timesOf(median.data?.points)}
            none={none}
            series={[
              { label: charts.median, colour: "--accent", values: valuesOf(median.data?.points) },
              { label: charts.slow, colour: "--waiting", values: valuesOf(slow.data?.points) },
            ]}
            format={(seconds) => formatDuration(seconds * 1_000)}
            formatTime={formatHour}
          />
        </Panel>
      </div>
    </div>
  );
}

const duration = { metric: "job_duration_seconds" } as const;

/** Before the first answer there are no times. The empty drawing then keeps its space. */
function timesOf(points: readonly MetricPoint[] = []): number[] {
  return points.map(({ at }) => Date.parse(at) / 1_000);
}

function valuesOf(points: readonly MetricPoint[] = []): (number | null)[] {
  return points.map(({ value }) => value);
}

const hourFormat = new Intl.DateTimeFormat(locale, { weekday: "short", hour: "2-digit", minute: "2-digit" });

function formatHour(seconds: number): string {
  return hourFormat.formatRange(seconds * 1_000, (seconds + 3_600) * 1_000);
}
