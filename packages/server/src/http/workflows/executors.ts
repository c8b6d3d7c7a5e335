import { type Static, Type } from "typebox";
import type { Executor } from "../../engine/executors/executor.ts";
import type { App, ServerParts } from "../door/app.ts";
import { answer, oneOf } from "../door/schemas.ts";

const ExecutorSchema = Type.Object(
  {
    type: Type.String({ description: "What a step's `integrationDetails.type` says.", example: "/service/noop" }),
    title: Type.String({ description: "Its name for people.", example: "No-op" }),
    summary: Type.String({ description: "What a step with it does, in one sentence." }),
    behaviour: oneOf(["pass", "wait", "delay", "call", "task", "job", "fork"], {
      description:
        "`pass`: the step is over at once. `wait`: it waits for events. `delay`: it sleeps. `call`: the service calls something outside. `task`: a worker that asks the service for tasks does it. `job`: another job does it. `fork`: it runs other steps of the definition side by side.",
    }),
    configSchema: Type.Unsafe<Executor["configSchema"]>({
      type: "object",
      additionalProperties: true,
      description:
        "The JSON Schema (2020-12) that registering a version checks the step's `config` with. Each property has a `description`. Registering also checks what no schema can say, such as that each event id is listed once.",
    }),
    expressionFields: Type.Array(Type.String(), {
      description: "Config fields in whose texts expressions may stand, written `${ … }`.",
    }),
    needsInput: Type.Boolean({ description: "Whether a step with it must have an `input` that makes something." }),
    disallowedConfigFields: Type.Array(Type.String(), {
      description:
        "Config fields that the operator of this service does not allow; a definition that gives one is refused.",
    }),
  },
  { title: "Executor" },
);

/** The executors of this node: the same map that definitions are checked against. */
export function executorRoutes(app: App, { executors }: ServerParts): void {
  // It never changes while the node runs.
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
          "What steps can do on this service: every executor that a definition can name, with the schema of its config. The list is short and comes whole. It is the same for everybody.",
        response: {
          200: answer("All of them.", Type.Object({ executors: Type.Array(ExecutorSchema) }, { title: "Executors" })),
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
