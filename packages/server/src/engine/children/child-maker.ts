import { NIL } from "uuid";
import { branchField } from "../../core/branch-path.ts";
import { callNameOf } from "../../core/job/call.ts";
import type { NewChild } from "../../core/job/fact.ts";
import type { ParentStep } from "../../core/job/job-state.ts";
import type { JsonObject, JsonValue } from "../../core/json/json.ts";
import { bytesOfJson } from "../../core/json/json-size.ts";
import { JsonText } from "../../core/json/json-text.ts";
import { type Problem, quoted } from "../../core/problem.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Database } from "../../store/home/database.ts";
import type { JobKey } from "../../store/jobs/jobs.ts";
import type { VersionChoice } from "../../store/workflows/versions.ts";
import { listWorkflows } from "../../store/workflows/workflows.ts";
import type { OwedCall } from "../calls/owed-calls.ts";
import type { SubmitCommand } from "../commit/command.ts";
import type { Done } from "../commit/group-commit.ts";
import { CallIsOverError, TooManyChildrenError } from "../commit/new-children.ts";
import { failed } from "../executors/call-failure.ts";
import type { CallResult } from "../executors/executor.ts";
import type { WholeJob } from "../reading/whole-job.ts";

export interface ChildMakerOptions {
  readonly database: Database;
  readonly commit: (command: SubmitCommand) => Promise<Done>;
  /** Counts one more job of the organization. If the organization has reached its submit rate limit, returns the seconds to wait before a retry. */
  readonly count: (organizationId: string) => Promise<number | undefined>;
  readonly readJob: (key: JobKey) => Promise<WholeJob | undefined>;
}

/** Makes the jobs that steps of other jobs ask for. */
export class ChildMaker {
  readonly #options: ChildMakerOptions;
  /**
   * The ids of workflows by organization and name. If the name belongs to another workflow by now, the old id finds no workflow any more, and the
   * name is looked up again.
   */
  readonly #workflowIds = new Map<string, string>();

  constructor(options: ChildMakerOptions) {
    this.#options = options;
  }

  /**
   * Makes the child of a call, or continues the child that an earlier attempt has made. Returns the outcome of the call. Returns undefined when the
   * child will report the outcome itself, when the call is over, or when another node holds it.
   */
  async make(call: Pick<OwedCall, "job" | "effect">): Promise<CallResult | undefined> {
    const { child } = call.effect;
    if (child === undefined) throw new Error(`The call of ${call.effect.step} makes no child.`);
    const restSeconds = await this.#options.count(call.job.organizationId);
    if (restSeconds !== undefined) return { ...failed("postponed", tooMany), retryAfterMs: restSeconds * 1_000 };
    try {
      const { answer } = await this.#submit(call, child);
      if (!child.isAwaited) return { type: "succeeded", output: { jobId: child.jobId } };
      return answer.isOver === true ? await this.#outputOf(call.job, child.jobId) : undefined;
    } catch (error) {
      if (error instanceof CallIsOverError) return undefined;
      if (error instanceof TooManyChildrenError) {
        return failed("permanent", { code: "TooManyChildren", message: error.message });
      }
      if (!(error instanceof ServiceError)) throw error;
      if (error.code === "RateLimitError" || error.code === "UnavailableError") return postponed(child, error);
      // An input that does not fit the schema is unlikely to fit at a retry. A missing tag may be set before the retry.
      return failed(error.code === "ValidationError" ? "permanent" : "ordinary", {
        code: "ChildNotStarted",
        message: rejectionOf(child, error),
      });
    }
  }

  async #submit(call: Pick<OwedCall, "job" | "effect">, child: NewChild): Promise<Done> {
    const { organizationId } = call.job;
    const known = this.#knownId(organizationId, child.workflow);
    const workflowId = known ?? (await this.#findId(organizationId, child.workflow));
    try {
      return await this.#options.commit(commandOf(call, child, workflowId));
    } catch (error) {
      const isForgotten = this.#workflowIds.delete(`${organizationId} ${child.workflow}`);
      if (!(isForgotten && known !== undefined && error instanceof ServiceError && error.code === "NotFoundError")) {
        throw error;
      }
      return await this.#options.commit(commandOf(call, child, await this.#findId(organizationId, child.workflow)));
    }
  }

  #knownId(organizationId: string, workflow: string): string | undefined {
    return uuid.test(workflow) ? workflow.toLowerCase() : this.#workflowIds.get(`${organizationId} ${workflow}`);
  }

  async #findId(organizationId: string, name: string): Promise<string> {
    const search = { organizationId, name, workflowIds: null, afterName: null, limit: 1 };
    const [found] = await listWorkflows(this.#options.database, search);
    // A child of an earlier attempt continues even when its workflow is deleted. Only the commit finds out whether there is such a child, so the
    // command gets an id that no workflow has.
    if (found === undefined) return NIL;
    if (this.#workflowIds.size >= maxKnownIds) this.#workflowIds.clear();
    this.#workflowIds.set(`${organizationId} ${name}`, found.workflowId);
    return found.workflowId;
  }

  /** Reads the output of a child that had succeeded before this call began. */
  async #outputOf({ organizationId }: OwedCall["job"], jobId: string): Promise<CallResult> {
    const output = (await this.#options.readJob({ organizationId, jobId }))?.output ?? null;
    const value: JsonValue = output instanceof JsonText ? output.toJSON() : output;
    return { type: "succeeded", output: value };
  }
}

const tooMany = {
  code: "ChildNotStarted",
  message:
    "The organization has reached its limit of jobs per minute. Jobs that are started by steps of other jobs count, too.",
} as const;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const maxKnownIds = 10_000;

function commandOf(
  { job, effect }: Pick<OwedCall, "job" | "effect">,
  child: NewChild,
  workflowId: string,
): SubmitCommand {
  const { organizationId, submittedBy } = job;
  const { jobId, version, isAwaited, timeoutAt } = child;
  const input = effect.input as JsonObject;
  const choice: VersionChoice =
    "tag" in version ? { by: "tag", tag: version.tag } : { by: "versionNumber", versionNumber: version.versionNumber };
  return {
    type: "submit",
    organizationId,
    jobId,
    workflowId,
    choice,
    input,
    submittedBy,
    origin: { parent: parentStepOf(job, effect), call: callNameOf(effect), isAwaited, timeoutAt },
    answer: (_job, verdict) => ({ isOver: verdict.type === "ignored" }),
    bytes: bytesOfJson(input),
  };
}

function parentStepOf({ jobId, parent }: OwedCall["job"], { branch, step, visit }: OwedCall["effect"]): ParentStep {
  const place = { ...branchField(branch), step, visit };
  return { jobId, rootJobId: parent?.rootJobId ?? jobId, depth: (parent?.depth ?? 0) + 1, ...place };
}

/**
 * The child cannot be made at the moment, for example because this node has no room for it or cannot read its version. That is not the fault of the
 * job, so it costs the step no attempt.
 */
function postponed(child: NewChild, error: ServiceError): CallResult {
  const failure = failed("postponed", { code: "ChildNotStarted", message: rejectionOf(child, error) });
  return { ...failure, retryAfterMs: (error.retryAfterSeconds ?? 1) * 1_000 };
}

function rejectionOf({ workflow, version }: NewChild, { code, message, problems }: ServiceError): string {
  const which = "tag" in version ? `the tag ${quoted(version.tag)}` : `version ${version.versionNumber}`;
  if (code === "NotFoundError") {
    return `The organization has no workflow ${quoted(workflow)}, or the workflow does not have ${which}. Add what is missing, and resume this job.`;
  }
  const listed = problems.slice(0, 5).map((problem) => ` ${sentenceOf(problem)}`);
  return `No job of ${quoted(workflow)} could be started. ${message}${listed.join("")}`;
}

/** Makes the text of a problem. The step's input is not the body of a request, so the pointer is relative to the input itself. */
function sentenceOf({ pointer, detail }: Problem): string {
  const place = pointer.replace(/^\/inputJson/, "");
  return `${place === "" ? "" : `${place} `}${detail}${detail.endsWith(".") ? "" : "."}`;
}
