import { type Static, Type } from "typebox";
import type { Executor } from "../../engine/executors/executor.ts";
import type { App, ServerParts } from "../door/app.ts";
import { answer, oneOf } from "../door/schemas.ts";

const ExecutorSchema = Type.Object(
  {
    type: Type.String({
      description: "The name of the executor, which a step gives as `integrationDetails.type`.",
      example: "/service/noop",
    }),
    title: Type.String({ description: "The name of the executor for people.", example: "No-op" }),
    summary: Type.String({ description: "One sentence that says what a step with this executor does." }),
    behaviour: oneOf(["pass", "wait", "delay", "call", "task", "job", "fork"], {
      description:
        "The way in which a step runs. `pass`: the step is over at once. `wait`: the step waits for events. `delay`: the step sleeps. `call`: the service calls something outside. `task`: a worker that asks the service for tasks does the work. `job`: another job does the work. `fork`: the step runs other steps of the definition side by side.",
    }),
    configSchema: Type.Unsafe<Executor["configSchema"]>({
      type: "object",
      additionalProperties: true,
      description:
        "The JSON Schema (2020-12) of the step's `config`. Each property has a `description`. When a version is registered, the `config` of each step is checked against this schema, and against rules that are not in the schema, for example that each event id is listed once.",
    }),
    expressionFields: Type.Array(Type.String(), {
      description: "The fields of `config` whose texts may contain expressions, written `${ … }`.",
    }),
    needsInput: Type.Boolean({ description: "True when a step with this executor must have an `input`." }),
    disallowedConfigFields: Type.Array(Type.String(), {
      description:
        "The fields of `config` that the operator of this service does not allow. A definition that has one of them is rejected.",
    }),
  },
  { title: "Executor" },
);

export function executorRoutes(app: App, { executors }: ServerParts): void {
  // The list never changes while the node runs.
  const rendered = { executors: [...executors.values()].map(renderExecutor) };
  app.get(
    "/executors",
    {
      schema: {
        operationId: "ListExecutors",
        "x-permission": "none",
        tags: ["workflows"],
        summary: "List the executors",
        description:
          "The answer lists every executor that a definition can name on this service, with the schema of its config. The list is short and has no pages. It is the same for everybody.",
        response: {
          200: answer(
            "The whole list.",
            Type.Object({ executors: Type.Array(ExecutorSchema) }, { title: "Executors" }),
          ),
        },
      },
    },
    async () => rendered,
  );
}

export function renderExecutor(executor: Executor): Static<typeof ExecutorSchema> {
  const { type, title, summary, behaviour, configSchema, expressionFields = {}, disallowedConfigFields } = executor;
  return {
    type,
    title,
    summary,
    behaviour,
    configSchema,
    expressionFields: Object.keys(expressionFields),
    needsInput: executor.behaviour === "pass" && executor.needsInput === true,
    disallowedConfigFields: [...(disallowedConfigFields?.keys() ?? [])],
  };
}
