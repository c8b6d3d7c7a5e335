import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { seedJobs } from "@stepwell/testing/seeded-jobs.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { beforeAll, expect, test } from "vitest";

const jobCount = 20_000;

onEveryStore((home) => {
  // The limit is long, since the machine may be busy: this test is about the work that goes on during a read, and not about the duration of the read.
  const service = useService(home, { STEPWELL_READ_TIMEOUT_MS: "60000" });
  let world: Awaited<ReturnType<typeof makeWorld>>;

  async function makeWorld() {
    const { api, organizationId } = await service.newOrganization();
    const seeded = await deploy(api, straightDefinition);
    const { workflowId } = await deploy(api, waitingDefinition);
    const { database, engine } = service.running;
    await seedJobs(database, {
      organizationId,
      ...seeded,
      jobCount,
      until: engine.now() - 60_000,
      days: 20,
      withHistory: true,
    });
    return { api, seeded, workflowId };
  }

  beforeAll(async () => {
    world = await makeWorld();
  }, 60_000);

  test("jobs can be submitted and the node stays ready during dozens of long reads", async () => {
    const { api, seeded, workflowId } = world;
    // No index helps with these reads: each must look at all jobs of the organization.
    const nowhere = { awaitingEventId: "nobody awaits it", createdAfter: "2001-01-01T00:00:00Z", isWaiting: false };
    const readings = Array.from({ length: 24 }, (_, index) => [
      () => api.call("ListJobs", { query: { ...nowhere, order: index % 2 === 0 ? "newest" : "oldest" } }),
      () => api.call("GetMetrics", { query: { metric: "step_duration_seconds", bucket: "day" } }),
    ]).flat();
    const state = { endedReads: 0, isSubmitting: true };
    const readers = Promise.all(
      readings.map(async (read) => {
        for (; state.isSubmitting; state.endedReads += 1) await read();
      }),
    );
    // The bound counts reads, since a bound in milliseconds would measure the machine. If a submission were in the same queue as the reads, it would
    // end after all of them.
    const endedMeanwhile: number[] = [];
    for (let count = 0; count < 11; count += 1) {
      const endedBefore = state.endedReads;
      await api.call("SubmitJob", { body: { workflowId: count % 2 === 0 ? workflowId : seeded.workflowId } });
      endedMeanwhile.push(state.endedReads - endedBefore);
      expect((await fetch(`${service.baseUrl}/health/ready`)).status).toBe(200);
    }
    state.isSubmitting = false;
    await readers;
    expect(endedMeanwhile.toSorted((one, other) => one - other)[5]).toBeLessThan(readings.length / 2);
  }, 60_000);

  test("a list that is read in slices omits nothing, in either order and over all pages", async () => {
    const { api, workflowId } = world;
    const submitted: string[] = [];
    for (let count = 0; count < 5; count += 1) submitted.push((await submitAndWait(api, workflowId)).jobId);
    const first = submitted[0] ?? "";
    for (const order of ["newest", "oldest"] as const) {
      const found: string[] = [];
      let pageToken: string | undefined;
      do {
        const query = {
          isWaiting: "true",
          workflowId,
          order,
          pageSize: "2",
          ...(pageToken !== undefined && { pageToken }),
        };
        const { body } = await api.call<{ jobs: { jobId: string }[]; nextPageToken?: string }>("ListJobs", { query });
        found.push(...body.jobs.map(({ jobId }) => jobId));
        pageToken = body.nextPageToken;
      } while (pageToken !== undefined);
      const expected = order === "newest" ? submitted.toReversed() : submitted;
      expect(found.filter((jobId) => jobId >= first)).toEqual(expected);
    }
  });

  test("a total stops at 10,000 and is marked as such", async () => {
    const { api, seeded, workflowId } = world;
    const total = async (query: Record<string, string>) =>
      (await api.call("ListJobs", { query: { includeTotal: "true", pageSize: "1", ...query } })).body;
    expect(await total({})).toMatchObject({ totalCount: 10_000, totalCountIsMinimum: true });
    expect(await total({ versionId: seeded.versionId })).toMatchObject({
      totalCount: 10_000,
      totalCountIsMinimum: true,
    });
    const few = await total({ workflowId });
    expect(few).toMatchObject({ totalCount: expect.toSatisfy((count: number) => count > 0 && count < 100) });
    expect(few).not.toHaveProperty("totalCountIsMinimum");
  });
});
