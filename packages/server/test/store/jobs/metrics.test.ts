import { randomUUID } from "node:crypto";
import { useDatabase } from "@stepwell/testing/database.ts";
import { said } from "@stepwell/testing/notes.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { readMetric } from "../../../src/store/jobs/metrics.ts";

const hourMs = 3_600_000;
const allWorkflows = "00000000-0000-0000-0000-000000000000";

onOneStore((home) => {
  const opened = useDatabase(home);

  test("every hour of a month is read exactly once, and no hour outside of it", async () => {
    const organizationId = randomUUID();
    const from = Date.parse("2026-01-01T00:00:00Z");
    const to = from + 31 * 24 * hourMs;
    const first = from / hourMs;
    const end = to / hourMs;
    const text = `INSERT INTO metric_rollup (organization_id, workflow_id, measure, bucket_seconds, bucket, duration_class, count, total_ms, max_ms)
      SELECT $1::uuid, '${allWorkflows}'::uuid, 'jobDuration', 3600, bucket, class, bucket - $2, 1, 1
      FROM generate_series($2::bigint - 1, $3::bigint) AS bucket
      CROSS JOIN generate_series(10, 11) AS class`;
    await opened.database.query(said(text), [organizationId, first, end]);
    const range = { organizationId, from, to, bucketSeconds: hourMs / 1_000, workflowIds: null };
    const rows = await Array.fromAsync(readMetric(opened.database, range, "jobDuration"));
    const read = rows.map(({ bucket, classes }) => [bucket, ...classes.map(({ count }) => count)]);
    read.sort(([one = 0], [other = 0]) => one - other);
    expect(read).toEqual(Array.from({ length: end - first }, (_, hour) => [first + hour, hour, hour]));
  });

  test("changes are read in hours whose seconds since 1970 exceed a 32-bit integer", async () => {
    const [organizationId, workflow] = [randomUUID(), randomUUID()];
    const from = Date.parse("2040-01-31T12:00:00Z");
    const change = { workflow, measure: "jobDuration", hour: from / hourMs, class: 3, count: 2, total: 50, max: 30 };
    const values = [organizationId, randomUUID(), JSON.stringify([change])];
    await opened.database.query(said("INSERT INTO metric_change VALUES ($1, $2, $3)"), values);
    const range = { organizationId, from, to: from + hourMs, bucketSeconds: hourMs / 1_000, workflowIds: null };
    const rows = await Array.fromAsync(readMetric(opened.database, range, "jobDuration"));
    expect(rows).toMatchObject([{ bucket: change.hour, classes: [{ count: 2, totalMs: 50, maxMs: 30 }] }]);
  });
});
