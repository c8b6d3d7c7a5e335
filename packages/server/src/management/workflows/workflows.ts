import { actorOf } from "../../auth/caller.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import {
  countWorkflows,
  deleteWorkflow as deleteWorkflowRow,
  insertWorkflow,
  type WorkflowKey,
} from "../../store/workflows/workflows.ts";
import type { Act, CallerAct, ManagementParts } from "../act/act.ts";
import { recordAudit } from "../act/audit-trail.ts";
import { lockGrants } from "../act/grants.ts";
import { transactOnce } from "../act/repetition.ts";
import { requireRoom } from "../maximums/maximums.ts";

export interface NewWorkflow {
  readonly workflowId: string;
  readonly name: string;
  readonly createdAt: number;
}

/**
 * Registers a workflow. Throws 409 when the organization has a workflow with that name, or has too many workflows. `answerOf` makes the answer, which
 * a repetition gets too.
 */
export async function registerWorkflow<Answer extends object>(
  parts: ManagementParts,
  act: CallerAct,
  { organizationId, name }: { readonly organizationId: string; readonly name: string },
  answerOf: (workflow: NewWorkflow) => Answer,
): Promise<Answer> {
  const { engine } = parts;
  return await transactOnce(parts, act, { organizationId }, async (transaction, createdAt) => {
    await lockGrants(transaction, organizationId);
    const workflowId = engine.newId();
    const workflow = { organizationId, workflowId, name, createdBy: actorOf(act.caller), createdAt };
    if (!(await insertWorkflow(transaction, workflow))) throw nameTaken(name);
    // The maximum is checked after the name. So a name that is taken is reported as such even at the maximum, and a client that registers its
    // workflow again at each start can continue.
    const countOthers = async () => (await countWorkflows(transaction, organizationId)) - 1;
    await requireRoom(transaction, parts, act, { organizationId }, "workflows", countOthers);
    const note = { organizationId, targetType: "workflow", targetId: workflowId, details: { name } } as const;
    await recordAudit(transaction, engine, act, note);
    return answerOf(workflow);
  });
}

/** Deletes a workflow. Its jobs continue. Throws 404 when there is no such workflow. */
export async function deleteWorkflow(
  { database, engine }: ManagementParts,
  act: Act,
  workflow: WorkflowKey,
): Promise<void> {
  const { organizationId, workflowId } = workflow;
  await database.transaction(async (transaction) => {
    const name = await deleteWorkflowRow(transaction, workflow, engine.now());
    if (name === undefined) throw notFound("workflow");
    const note = { organizationId, targetType: "workflow", targetId: workflowId, details: { name } } as const;
    await recordAudit(transaction, engine, act, note);
  });
}

function nameTaken(name: string): ServiceError {
  return new ServiceError(
    "ConflictError",
    `This organization has a workflow named ${JSON.stringify(name)} already. List it with ?name=…, or choose another name.`,
  );
}
