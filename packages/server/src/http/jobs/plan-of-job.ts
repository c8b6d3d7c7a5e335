import type { Job } from "../../core/job/job-state.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { versionUnreadable } from "../../engine/plans/parking.ts";
import type { ServerParts } from "../door/app.ts";

/** Returns the compiled definition that a job runs. Throws a `ServiceError` if this node cannot compile it. */
export async function planOfJob(
  { plans, database }: ServerParts,
  { organizationId, versionId }: Pick<Job, "organizationId" | "versionId">,
): Promise<Plan> {
  const loaded = await plans.load(database, [{ organizationId, versionId }]);
  const parked = loaded.parked.get(versionId);
  if (parked !== undefined) throw versionUnreadable(parked);
  const plan = loaded.plans.get(versionId);
  if (plan === undefined) throw new Error(`Version ${versionId} has neither a plan nor a reason for having none.`);
  return plan;
}
