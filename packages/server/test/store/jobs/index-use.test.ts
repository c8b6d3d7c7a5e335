import { randomUUID } from "node:crypto";
import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, registerVersion } from "@stepwell/testing/flow.ts";
import { seedJobs } from "@stepwell/testing/seeded-jobs.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { beforeAll, expect, test } from "vitest";
import type { Database, Reader } from "../../../src/store/home/database.ts";
import { findKeptEvents } from "../../../src/store/jobs/events.ts";
import { deleteExpiredKeys } from "../../../src/store/jobs/idempotency.ts";
import { type JobSearch, listJobs } from "../../../src/store/jobs/job-lists.ts";

/** With this many jobs, the planner prefers an index if there is one. */
const jobCount = 8_000;

onEveryStore((home) => {
  const service = useService(home);
  let search: JobSearch;
  let oldVersionId: string;

  beforeAll(async () => {
    const { api, organizationId } = await service.newOrganization();
    const { database, engine } = service.running;
    const other = await deploy(api, straightDefinition);
    const busy = await deploy(api, straightDefinition);
    oldVersionId = (await registerVersion(api, busy.workflowId, straightDefinition)).versionId;
    const until = engine.now() - 60_000;
    await seedJobs(database, {
      organizationId,
      ...other,
      jobCount,
      until: until - 86_400_000,
      days: 1,
      withHistory: false,
    });
    await seedJobs(database, { organizationId, ...busy, jobCount, until, days: 1, withHistory: false });
    await run(
      database,
      "UPDATE job SET status = 'FAILED' WHERE organization_id = $1 AND right(job_id::text, 1) = '7'",
      [organizationId],
    );
    await run(
      database,
      `INSERT INTO idempotency_key (organization_id, idempotency_key, request_hash, claim_id, created_at)
       SELECT $1::uuid, 'key ' || n, '\\x00', $1::uuid, now() - n * interval '1 second' FROM generate_series(1, 20000) AS n`,
      [organizationId],
    );
    for (const table of ["job", "idempotency_key"]) await database.upkeep.vacuum(table);
    search = { ...everything, organizationId, workflowId: busy.workflowId };
  }, 60_000);

  test.each([
    ["of one workflow", {}, "job_by_workflow"],
    ["of one workflow in one status", { status: "FAILED" }, "job_by_workflow_status"],
    ["of one workflow that succeeded", { status: "SUCCEEDED" }, "job_by_workflow"],
    ["of one version's number", { versionNumber: 2 }, "job_by_workflow"],
  ] as const)("a list of the jobs %s uses an index", async (_name, filters, index) => {
    const plans = await plansOf(service.running.database, search.organizationId, (reader) =>
      listJobs(reader, { ...search, ...filters }, "newest", null, 26),
    );
    expect(plans.at(-1)).toMatch(new RegExp(`Index (Only )?Scan( Backward)? using ${index} `));
    expect(plans.join("\n")).not.toMatch(/Seq Scan on job\b|Sort/);
  });

  test("a list of one version's jobs uses the index of its workflow's jobs", async () => {
    const plans = await plansOf(service.running.database, search.organizationId, (reader) =>
      listJobs(reader, { ...search, workflowId: null, versionId: oldVersionId }, "newest", null, 26),
    );
    expect(plans.at(-1)).toContain("using job_by_workflow ");
    expect(plans.join("\n")).not.toMatch(/Seq Scan on job\b/);
  });

  test("a list of a job's children reads only these, however many jobs there are", async () => {
    const { database } = service.running;
    const parentJobId = randomUUID();
    await run(
      database,
      `INSERT INTO child_job (organization_id, parent_job_id, job_id)
       SELECT organization_id, $2::uuid, job_id FROM (SELECT * FROM job WHERE organization_id = $1 ORDER BY job_id LIMIT 20) AS oldest`,
      [search.organizationId, parentJobId],
    );
    for (const order of ["newest", "oldest"] as const) {
      const plans = await plansOf(database, search.organizationId, (reader) =>
        listJobs(reader, { ...search, workflowId: null, parentJobId }, order, null, 26),
      );
      expect(plans.at(-1)).toMatch(/Index Cond: .*job_id = child_job\.job_id/);
    }
  });

  test("an event without a match is found by its id, however many such events its job has", async () => {
    const { database } = service.running;
    const { organizationId } = search;
    const jobId = randomUUID();
    await run(
      database,
      `INSERT INTO job_event (organization_id, job_id, event_number, event_id, outcome, sent_by, received_at)
       SELECT $1::uuid, $2::uuid, n, 'event ' || n, 'unmatched', '{}', now() FROM generate_series(1, 10000) AS n`,
      [organizationId, jobId],
    );
    await database.upkeep.vacuum("job_event");
    const plans = await plansOf(database, organizationId, (reader) =>
      findKeptEvents(reader, [{ organizationId, jobId, eventId: "event 5000" }]),
    );
    expect(plans).toEqual([expect.stringContaining("using job_event_unmatched ")]);
  });

  test("expired idempotency keys are found by an index", async () => {
    const { database, engine } = service.running;
    const plans = await plansOf(database, search.organizationId, (reader) =>
      deleteExpiredKeys({ ...database, query: reader.query }, engine.now() - 19_990_000, 10),
    );
    expect(plans[0]).toContain("idempotency_key_created");
  });
});

const everything: JobSearch = {
  organizationId: randomUUID(),
  status: null,
  workflowId: null,
  versionId: null,
  versionNumber: null,
  createdAfter: null,
  createdBefore: null,
  awaitingEventId: null,
  isWaiting: null,
  isTopLevel: null,
  parentJobId: null,
  workflowIds: null,
};

async function run(database: Database, text: string, values: readonly unknown[]): Promise<unknown[]> {
  return await database.query<unknown>({ name: text, scope: "organization", text, planned: "each-time" }, values);
}

/** Returns the plan of each statement of `work`. */
async function plansOf(
  database: Database,
  organizationId: string,
  work: (reader: Reader) => Promise<unknown>,
): Promise<string[]> {
  const plans: string[] = [];
  const reader = database.reader(organizationId);
  await work({
    sliceRows: reader.sliceRows,
    async query(statement, values) {
      const lines = (await run(database, `EXPLAIN ${statement.text}`, values)) as { readonly "QUERY PLAN": string }[];
      plans.push(lines.map((line) => line["QUERY PLAN"]).join("\n"));
      return await reader.query(statement, values);
    },
  });
  return plans;
}
