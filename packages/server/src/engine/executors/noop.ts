import type { Executor } from "./executor.ts";

/** `/service/noop`: the output is the input. */
export const noop: Executor = {
  type: "/service/noop",
  title: "No-op",
  summary: "The output is the input; nothing is called.",
  behaviour: "pass",
  configSchema: { type: "object", additionalProperties: false },
};
