import type { ChildTerms } from "../../core/definition/executor-kind.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Problem } from "../../core/problem.ts";
import type { Executor } from "./executor.ts";

export function job({ maxNameLength }: { maxNameLength: number }): Executor {
  const workflow: JsonObject = { type: "string", minLength: 1, maxLength: maxNameLength };
  const tag: JsonObject = { type: "string", pattern: "^\\$?[A-Za-z0-9_.-]{1,64}$" };
  const versionNumber: JsonObject = { type: "integer", minimum: 1, maximum: 2_147_483_647 };
  return {
    type: "/service/job",
    title: "Job",
    summary:
      "Starts a job of a workflow with the step's input, and by default waits for the job; the output is then the output of that job.",
    behaviour: "job",
    configSchema: {
      type: "object",
      properties: {
        workflow: { description: "The name or the id of the workflow, in the same organization.", ...workflow },
        tag: { description: "The tag of the version that the job runs, by default `$LIVE`.", ...tag },
        versionNumber: { description: "The number of the version, instead of a tag.", ...versionNumber },
        wait: {
          description:
            "Whether the step waits for the job, and takes the job's output as its own (the default). With `false` the step ends as soon as the job exists, and its output is `{jobId}`.",
          type: "boolean",
        },
      },
      required: ["workflow"],
      additionalProperties: false,
    },
    expressionFields: { workflow, tag, versionNumber },
    checkConfig,
    childTerms,
  };
}

function checkConfig({ tag, versionNumber }: JsonObject): Problem[] {
  if (tag === undefined || versionNumber === undefined) return [];
  return [{ pointer: "/versionNumber", detail: "names a version, as `tag` does; give one of the two" }];
}

function childTerms(config: JsonObject): ChildTerms {
  const terms = config as { workflow: string; tag?: string; versionNumber?: number; wait?: boolean };
  const { workflow, tag = "$LIVE", versionNumber, wait = true } = terms;
  return { workflow, version: versionNumber === undefined ? { tag } : { versionNumber }, isAwaited: wait };
}
