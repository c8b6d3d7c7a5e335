import { closedObject, newSchema, type Schema } from "../schema/node.ts";
import { typeSets } from "../schema/type-set.ts";

const text = newSchema({ types: typeSets.string });
const fields: [string, Schema][] = [
  ["code", text],
  ["message", text],
  ["type", text],
  ["step", text],
];
const required = ["code", "message", "step"];

/** The failure of a step in a branch or in a child job, as the step tells of it that has the branch or the child. */
export const branchErrorSchema = closedObject(
  new Map([...fields, ["branch", text], ["jobId", text]]),
  required,
  typeSets.object,
);

/** A failure as expressions read it. */
export const errorSchema = closedObject(new Map([...fields, ["cause", branchErrorSchema]]), required, typeSets.object);
