import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { deploy } from "@stepwell/testing/flow.ts";
import { said } from "@stepwell/testing/notes.ts";
import { seedJobs } from "@stepwell/testing/seeded-jobs.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import type { Reader } from "../../../src/store/home/database.ts";
import { type JobSearch, listJobs } from "../../../src/store/jobs/job-lists.ts";

const jobCount = 12;

const enlargeStates = `
  UPDATE job
  SET status = 'RUNNING', finished_at = NULL, awaiting_event_ids = ARRAY['e'],
    short_state = json_build_object('carried', repeat('a', 2000000), 'step', json_build_object('name', 'w'))
  WHERE organization_id = $1`;

onEveryStore((home) => {
  const service = useService(home);

  test("a list of jobs with large states is complete, and each statement looks into a few of them", async () => {
    const { api, organizationId } = await service.newOrganization();
    const workflow = await deploy(api, straightDefinition);
    const { database, engine } = service.running;
    const until = engine.now() - 60_000;
    await seedJobs(database, { organizationId, ...workflow, jobCount, until, days: 1, withHistory: false });
    await database.query(said(enlargeStates), [organizationId]);

    const counts: number[] = [];
    const reader = database.reader(organizationId);
    const watched: Reader = {
      sliceRows: reader.sliceRows,
      async query(asked, values) {
        const rows = await reader.query(asked, values);
        if (asked.name.startsWith("list_")) counts.push(rows.length);
        return rows;
      },
    };
    const search = { ...everything, organizationId };
    const newest = await listJobs(watched, search, "newest", null, 200);
    expect(newest.map(({ stepName }) => stepName)).toEqual(Array.from({ length: jobCount }, () => "w"));
    expect(Math.max(...counts)).toBeLessThanOrEqual(4);
    const ids = newest.map(({ jobId }) => jobId);
    expect(ids).toEqual(ids.toSorted().toReversed());
    const oldest = await listJobs(watched, search, "oldest", null, 7);
    expect(oldest.map(({ jobId }) => jobId)).toEqual(ids.toReversed().slice(0, 7));
  }, 60_000);
});

const everything: Omit<JobSearch, "organizationId"> = {
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
