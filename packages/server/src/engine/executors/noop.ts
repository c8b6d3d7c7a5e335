import type { Executor } from "./executor.ts";

export const noop: Executor = {
  type: "/service/noop",
  title: "No-op",
  summary: "The output is the input; nothing is called.",
  behaviour: "pass",
  configSchema: { type: "object", additionalProperties: false },
};
