import { randomUUID } from "node:crypto";
import { useDatabase } from "@stepwell/testing/database.ts";
import { said } from "@stepwell/testing/notes.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { metricRollupsDuty } from "../../../src/engine/maintenance/metric-rollups.ts";
import { readMetric } from "../../../src/store/jobs/metrics.ts";
import { readUncounted } from "../../../src/store/jobs/uncounted-history.ts";
import { insertJobRow, jobRows } from "./job-rows.ts";

const submittedAt = Date.parse("2026-01-31T12:00:00Z");
const dayMs = 86_400_000;

onEveryStore((home) => {
  const opened = useDatabase(home);

  /**
   * Makes a job whose history the rollups do not include yet. Each array of entries is one commit; `seconds` is the time of an entry after the
   * submission.
   */
  async function writeHistory(commits: readonly (readonly WrittenEntry[])[], counted: false | null) {
    const [organizationId, jobId] = [randomUUID(), randomUUID()];
    const insert = "INSERT INTO organization VALUES ($1, $1::uuid::text, 'test', now(), now(), NULL)";
    await opened.database.query(said(insert), [organizationId]);
    await insertJobRow(opened.database, { ...jobRows.calling, organization_id: organizationId, job_id: jobId });
    let sequence = 0;
    for (const commit of commits) {
      const first = sequence + 1;
      const entries = commit.map(({ seconds, ...entry }) => {
        sequence += 1;
        return { sequence, at: submittedAt + seconds * 1_000, ...entry };
      });
      await opened.database.query(
        said(`INSERT INTO job_history (organization_id, job_id, first_sequence, last_sequence, commit_id, committed_at, entries, counted)
              VALUES ($1, $2, $3, $4, $5, now(), $6, $7)`),
        [organizationId, jobId, first, sequence, randomUUID(), JSON.stringify(entries), counted],
      );
    }
    if (counted === null) {
      const backlog = "INSERT INTO metric_backlog VALUES ($1, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 0)";
      await opened.database.query(said(backlog), [organizationId]);
    }
    return { organizationId, jobId };
  }

  /** Sums up the durations of the steps that succeeded on 31 January 2026, the day of the test's history. */
  async function stepDurations(organizationId: string) {
    const from = Date.parse("2026-01-31T00:00:00Z");
    const day = { organizationId, from, to: from + dayMs, bucketSeconds: dayMs / 1_000, workflowIds: null };
    const rows = await Array.fromAsync(readMetric(opened.database, day, "stepDuration"));
    const classes = rows.flatMap((row) => row.classes);
    const sumOf = (field: "count" | "totalMs") => classes.reduce((sum, one) => sum + one[field], 0);
    return { count: sumOf("count"), totalMs: sumOf("totalMs"), maxMs: Math.max(...classes.map(({ maxMs }) => maxMs)) };
  }

  const pack = { step: "pack", visit: 1 };
  const first = { ...pack, branch: "fan-out:1[0]" };
  const second = { ...pack, branch: "fan-out:1[1]" };
  const history: WrittenEntry[][] = [
    [
      { type: "step.started", seconds: 0, ...pack },
      { type: "step.started", seconds: 2, ...first },
    ],
    [{ type: "step.started", seconds: 10, ...second }],
    [
      { type: "step.succeeded", seconds: 12, ...first },
      { type: "step.succeeded", seconds: 13, ...second },
    ],
    [{ type: "step.succeeded", seconds: 60, ...pack }],
  ];

  test.each([
    ["from before the rollups", null],
    ["that a commit left uncounted", false],
  ] as const)(
    "in history %s, a step that runs in several branches has in each its own duration from its own start",
    async (_, counted) => {
      const { organizationId } = await writeHistory(history, counted);
      const isAllCounted = async () => (await metricRollupsDuty(opened.database).runOnce()) === undefined;
      await expect.poll(isAllCounted, { timeout: 20_000 }).toBe(true);
      expect(await stepDurations(organizationId)).toEqual({ count: 3, totalMs: (10 + 3 + 60) * 1_000, maxMs: 60_000 });
    },
  );

  test("an entry without a branch belongs to the main line", async () => {
    const { organizationId, jobId } = await writeHistory([[...(history[0] ?? [])]], false);
    const [row] = await readUncounted(opened.database, organizationId, [{ jobId, firstSequence: 1 }]);
    expect(row?.entries.map(({ branch }) => branch)).toEqual(["", first.branch]);
  });
});

interface WrittenEntry {
  readonly type: "step.started" | "step.succeeded";
  readonly seconds: number;
  readonly step: string;
  readonly visit: number;
  readonly branch?: string;
}
