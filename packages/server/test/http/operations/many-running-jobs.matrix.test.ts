import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { said } from "@stepwell/testing/notes.ts";
import { seedJobs } from "@stepwell/testing/seeded-jobs.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

/** Counting ends at 10,000 running jobs. */
const jobCount = 10_002;

const letAllRun = `
  UPDATE job
  SET status = 'RUNNING', finished_at = NULL, wake_at = '2999-01-01', awaiting_event_ids = CASE WHEN right(job_id::text, 1) < '8' THEN ARRAY['e'] END
  WHERE organization_id = $1 AND workflow_id = $2`;

onEveryStore((home) => {
  const service = useService(home);

  test("the numbers of running and waiting jobs count at most 10,000 running jobs, and are marked as minimums if there are more", async () => {
    const { api, organizationId } = await service.newOrganization();
    const many = await deploy(api, straightDefinition);
    const few = await deploy(api, waitingDefinition);
    for (let count = 0; count < 2; count += 1) await submitAndWait(api, few.workflowId);
    const { database, engine } = service.running;
    const until = engine.now() - 60_000;
    await seedJobs(database, { organizationId, ...many, jobCount, until, days: 1, withHistory: false });
    await database.query(said(letAllRun), [organizationId, many.workflowId]);

    const present = async (metric: string, workflowId?: string) => {
      const query = { metric, ...(workflowId !== undefined && { workflowId }) };
      const { body } = await api.call<{ points: { value: number; valueIsMinimum?: boolean }[] }>("GetMetrics", {
        query,
      });
      return body.points.map(({ value, valueIsMinimum }) => ({ value, valueIsMinimum }));
    };
    const half = expect.toSatisfy((value: number) => value > 4_900 && value < 5_100);
    for (const workflowId of [undefined, many.workflowId]) {
      expect(await present("jobs_running", workflowId)).toEqual([{ value: 10_000, valueIsMinimum: true }]);
      expect(await present("jobs_waiting", workflowId)).toEqual([{ value: half, valueIsMinimum: true }]);
    }
    for (const metric of ["jobs_running", "jobs_waiting"]) {
      expect(await present(metric, few.workflowId)).toEqual([{ value: 2, valueIsMinimum: undefined }]);
    }
  }, 60_000);
});
