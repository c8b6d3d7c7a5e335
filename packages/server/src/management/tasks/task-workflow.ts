import { currentLanguage } from "../../core/definition/language.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Queryable } from "../../store/home/database.ts";
import { findVersionWithText, insertVersion } from "../../store/workflows/versions.ts";
import { insertWorkflow, listWorkflows, lockWorkflow, type WorkflowKey } from "../../store/workflows/workflows.ts";
import type { ManagementParts } from "../act/act.ts";

/** The workflow of single tasks: its jobs have one step, whose queue, priority and input come from the job's input. */
const taskWorkflowName = "stepwell-task";

const anything = { $ref: "#/definitions/anything" };
const definition = JSON.stringify({
  workflowName: taskWorkflowName,
  description: "One task, without a workflow of its own: SubmitTask makes its jobs.",
  steps: [
    {
      name: "task",
      integrationDetails: {
        type: "/service/task",
        config: { queue: "${ input.queue }", priority: "${ input.priority }" },
        inputDefinition: anything,
        outputDefinition: anything,
      },
      input: "${ input.input }",
      transitionToStep: null,
    },
  ],
  definitions: { anything: {} },
});

/**
 * Finds the organization's workflow of single tasks, and the version of it that belongs to this release. Registers them if they are missing. They
 * belong to the service, so no maximum keeps them from being registered, and they leave no entry in the audit trail. But they are
 * counted like all others when it is checked whether a user may register one more.
 */
export async function prepareTaskWorkflow(
  { database, engine }: ManagementParts,
  organizationId: string,
): Promise<{ readonly workflowId: string; readonly versionId: string }> {
  const known = await findByName(database, organizationId);
  const versionId = known && (await findOwnVersion(database, { organizationId, workflowId: known }));
  if (known !== undefined && versionId !== undefined) return { workflowId: known, versionId };
  const made = { createdBy: { type: "service", id: "stepwell" } as const, createdAt: engine.now() };
  return await database.transaction(async (transaction) => {
    const workflow = { organizationId, workflowId: engine.newId(), name: taskWorkflowName, ...made };
    const isNew = await insertWorkflow(transaction, workflow);
    const workflowId = isNew ? workflow.workflowId : await findByName(transaction, organizationId);
    if (workflowId === undefined || !(await lockWorkflow(transaction, { organizationId, workflowId }))) {
      const message = `The workflow ${taskWorkflowName} has just been deleted. Try again.`;
      throw new ServiceError("UnavailableError", message, { retryAfterSeconds: 1 });
    }
    // Another request may have registered the version a moment ago.
    const found = await findOwnVersion(transaction, { organizationId, workflowId });
    if (found !== undefined) return { workflowId, versionId: found };
    const version = { versionId: engine.newId(), workflowId, definition, language: currentLanguage, ...made };
    await insertVersion(transaction, organizationId, version);
    return { workflowId, versionId: version.versionId };
  });
}

/**
 * Finds this release's version even if there are newer versions, registered by users or by another release that runs beside this one. Otherwise the
 * nodes of both releases would register their versions again and again.
 */
async function findOwnVersion(db: Queryable, workflow: WorkflowKey): Promise<string | undefined> {
  return (await findVersionWithText(db, workflow, definition))?.versionId;
}

async function findByName(db: Queryable, organizationId: string): Promise<string | undefined> {
  const search = { organizationId, name: taskWorkflowName, workflowIds: null, afterName: null, limit: 1 };
  return (await listWorkflows(db, search))[0]?.workflowId;
}
