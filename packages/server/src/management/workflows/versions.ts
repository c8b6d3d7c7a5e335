import { actorOf } from "../../auth/caller.ts";
import { currentLanguage } from "../../core/definition/language.ts";
import { describePlace, type PlacedProblem } from "../../core/definition/placed-problem.ts";
import { isSameJson } from "../../core/json/json.ts";
import { sentence } from "../../core/problem.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { definitionLimits } from "../../engine/plans/definition-limits.ts";
import { findNewestVersion, insertVersion, type Version } from "../../store/workflows/versions.ts";
import { lockWorkflow, type WorkflowKey } from "../../store/workflows/workflows.ts";
import type { CallerAct, ManagementParts } from "../act/act.ts";
import { recordAudit } from "../act/audit-trail.ts";
import { transactOnce } from "../act/repetition.ts";
import { requireRoom } from "../maximums/maximums.ts";
import { noteStoredBytes, requireStoreRoom } from "../maximums/stored-bytes.ts";

export interface NewVersion {
  readonly definition: string;
  /** The problems that the check of the definition found. The list is empty when the definition is valid. */
  readonly problems: readonly PlacedProblem[];
  /** True if nothing is to be registered when the newest version has an equal definition. */
  readonly ifChanged: boolean;
}

/**
 * Registers a version of a workflow. Throws 404 when there is no such workflow, and 400 with what is wrong with the definition. Throws 409 when the
 * workflow has too many versions or the organization stores too much. `answerOf` makes the answer, which a repetition gets too.
 */
export async function registerWorkflowVersion<Answer extends object>(
  parts: ManagementParts,
  act: CallerAct,
  workflow: WorkflowKey,
  { definition, problems, ifChanged }: NewVersion,
  answerOf: (version: Version, created: boolean) => Answer,
): Promise<Answer> {
  const { engine } = parts;
  const { organizationId, workflowId } = workflow;
  // With `ifChanged` the problems are not reported yet: an unchanged definition can be deployed even if this release checks more than the release
  // that registered it.
  if (problems.length > 0 && !ifChanged) throw invalidDefinition(problems);
  return await transactOnce(parts, act, { organizationId }, async (transaction, createdAt) => {
    if (!(await lockWorkflow(transaction, workflow))) throw notFound("workflow");
    const newest = ifChanged ? await findNewestVersion(transaction, workflow) : undefined;
    if (newest !== undefined && isSameJson(newest.definition, definition, definitionLimits(parts.config))) {
      return answerOf(newest, false);
    }
    if (problems.length > 0) throw invalidDefinition(problems);
    const version = { versionId: engine.newId(), workflowId, definition, createdBy: actorOf(act.caller), createdAt };
    await requireStoreRoom(transaction, parts, organizationId);
    await requireRoom(transaction, parts, act, workflow, "versionsPerWorkflow");
    const versionNumber = await insertVersion(transaction, organizationId, { ...version, language: currentLanguage });
    await noteStoredBytes(transaction, workflow, Buffer.byteLength(definition), createdAt);
    const details = { workflowId, versionNumber };
    const note = { organizationId, targetType: "version", targetId: version.versionId, details } as const;
    await recordAudit(transaction, engine, act, note);
    return answerOf({ ...version, versionNumber }, true);
  });
}

function invalidDefinition(problems: readonly PlacedProblem[]): ServiceError {
  const [first] = problems;
  const where = first?.pointer ? ` at ${describePlace(first)}: ` : ": it ";
  const count = problems.length === 1 ? "One problem" : `${problems.length} problems, the first`;
  const message = sentence(`The definition is not valid. ${count}${where}${first?.detail}`);
  return new ServiceError("ValidationError", message, { problems });
}
