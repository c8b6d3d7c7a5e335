import type { PassKind } from "../../core/definition/executor-kind.ts";

/** `/service/noop`: the output is the input. */
export const noop: PassKind = {
  type: "/service/noop",
  behaviour: "pass",
  configSchema: { type: "object", additionalProperties: false },
};
