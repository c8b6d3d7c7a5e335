import type { Executor } from "./executor.ts";

/** `/service/transform`: the output is the value that the step's `input` makes. */
export const transform: Executor = {
  type: "/service/transform",
  title: "Transform",
  summary: "The output is the value of the step's input template; nothing is called.",
  behaviour: "pass",
  needsInput: true,
  configSchema: { type: "object", additionalProperties: false },
};
