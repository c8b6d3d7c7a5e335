import type { Job } from "../../core/job/job-state.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { ServerParts } from "../door/app.ts";

/** The compiled definition that a job runs. Versions are never deleted, so it is always there. */
export async function planOfJob(
  { plans, database }: ServerParts,
  { organizationId, versionId }: Pick<Job, "organizationId" | "versionId">,
): Promise<Plan> {
  const plan = (await plans.load(database, [{ organizationId, versionId }])).get(versionId);
  if (plan === undefined) throw new Error(`Version ${versionId} is not in the store.`);
  return plan;
}
