import { waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { JobWatch } from "../../../src/engine/reading/job-watch.ts";
import { WaitingPlaces } from "../../../src/engine/reading/waiting-places.ts";
import type { JobKey } from "../../../src/store/jobs/jobs.ts";
import { submission } from "../commands.ts";

onEveryStore((home) => {
  const service = useService(home);

  test("a watcher of a job is notified of changes by other nodes, even while a caller of another organization requests the job", async () => {
    const { api, organizationId } = await service.newOrganization();
    const stranger = await service.newOrganization();
    const { engine, database } = service.running;
    const { workflowId } = await deploy(api, waitingDefinition);
    const job: JobKey = submission(engine, { organizationId, workflowId });
    await engine.commit(submission(engine, { organizationId, workflowId }, job));
    const watch = new JobWatch(database, new WaitingPlaces({ maxCount: 10, maxCountOf: () => 10 }));
    const heard: string[] = [];
    watch.add({ ...job, organizationId: stranger.organizationId }, () => heard.push("the stranger"));
    watch.add(job, () => heard.push("the owner"));

    await watch.pollDuty(1_000, () => true).runOnce();

    expect(heard).toEqual(["the owner"]);
  });
});
