import { said } from "@stepwell/testing/notes.ts";
import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import { type Ground, type HostileTenant, inTurn, submitJobs } from "./hostile-tenant.ts";

/** Has 600 jobs that are due and whose version this release cannot compile, as if a later release had registered it. */
export const unreadableVersion: HostileTenant = {
  name: "unreadable-version",
  fix: {
    sentence: "A node parks each version that it cannot compile and each job that it cannot continue.",
    turnedOffBy: [
      { file: "engine/plans/plans.ts", text: "this.parking.parkVersion(version, error);", replacement: "throw error;" },
      {
        file: "engine/plans/parking.ts",
        text: "this.#places.set(id, { thing, reason, since: before?.since ?? now, pauseMs, until: now + pauseMs });",
        replacement: "",
      },
    ],
  },
  async prepare(ground: Ground) {
    const { api, organizationId, requests } = ground;
    const workflowId = await registerWorkflow(api, organizationId, definitionOf("/service/waitForEventIds"));
    const jobIds = await submitJobs(ground, workflowId, jobCount);
    const unreadable = JSON.stringify(definitionOf("/service/fromALaterRelease"));
    await ground.withStore(async (database) => {
      const outdate = "UPDATE workflow_version SET definition = $2 WHERE workflow_id = $1";
      await database.query(said(outdate), [workflowId, unreadable]);
      await database.query(said("UPDATE job SET wake_at = now() WHERE workflow_id = $1"), [workflowId]);
    });
    const asked = jobIds.flatMap((jobId) => {
      const job = `/organizations/${organizationId}/jobs/${jobId}`;
      return [requests.get(job), requests.post(`${job}/events`, { eventId: "go" })];
    });
    return (traffic) => traffic.keepAsking(2, inTurn(asked));
  },
};

const jobCount = 600;
/** Long enough that no job becomes due by itself. The jobs are made due in the store after the version has become unreadable. */
const timeoutSeconds = 3_600;

function definitionOf(type: string) {
  const any = { $ref: "#/definitions/any" };
  const integrationDetails = { type, config: { eventIds: ["go"] }, inputDefinition: any, outputDefinition: any };
  return {
    workflowName: "unreadable",
    steps: [{ name: "wait", integrationDetails, timeoutSeconds }],
    definitions: { any: { type: "object" } },
  };
}
