import { type Delay, maxDelaySeconds, readDelay } from "../../core/definition/delay.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Problem } from "../../core/problem.ts";
import { isConstant } from "./constant.ts";
import type { Executor } from "./executor.ts";

const seconds: JsonObject = { type: "number", minimum: 0, maximum: maxDelaySeconds };
const until: JsonObject = { type: "string", format: "date-time" };

export const delay: Executor = {
  type: "/service/delay",
  title: "Delay",
  summary: "Sleeps for some seconds, or until a time; the output is the input.",
  behaviour: "delay",
  configSchema: {
    type: "object",
    properties: {
      seconds: {
        description: `The length of the delay in seconds, counted from the moment when the job enters the step: at most ${maxDelaySeconds} (a year). A delay must have exactly one of \`seconds\` and \`until\`.`,
        ...seconds,
      },
      until: {
        description:
          "The time at which the delay ends, such as 2026-01-31T12:00:00Z. A time in the past ends it at once.",
        ...until,
      },
    },
    additionalProperties: false,
  },
  expressionFields: { seconds, until },
  checkConfig,
  delayOf,
};

function checkConfig(config: JsonObject): Problem[] {
  const read = readDelay({ ...config, ...stoodIn(config) });
  return "problem" in read ? [{ pointer: read.field === "" ? "" : `/${read.field}`, detail: read.problem }] : [];
}

/**
 * Returns a valid value for each field that has an expression, so that the other fields can be checked. The value of an expression is known only when
 * a job reaches the step.
 */
function stoodIn(config: JsonObject): JsonObject {
  const right: JsonObject = { seconds: 0, until: "2026-01-31T12:00:00Z" };
  return Object.fromEntries(Object.entries(right).filter(([field]) => !isConstant(config[field] ?? null)));
}

function delayOf(config: JsonObject): Delay {
  const read = readDelay(config);
  if ("problem" in read) throw new Error(`The config of a delay ${read.problem}.`);
  return read;
}
