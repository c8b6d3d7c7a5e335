import type { Executor } from "./executor.ts";

export const transform: Executor = {
  type: "/service/transform",
  title: "Transform",
  summary: "The output is the value of the step's input template; nothing is called.",
  behaviour: "pass",
  needsInput: true,
  configSchema: { type: "object", additionalProperties: false },
};
