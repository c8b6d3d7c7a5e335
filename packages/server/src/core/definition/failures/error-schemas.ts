import { closedObject, newSchema, type Schema } from "../../schema/node.ts";
import { typeSets } from "../../schema/type-set.ts";

const text = newSchema({ types: typeSets.string });
const fields: [string, Schema][] = [
  ["code", text],
  ["message", text],
  ["type", text],
  ["step", text],
];
const required = ["code", "message", "step"];

/** The schema of a failure in a branch or a child job, in the form in which the fork or the parent's step reports it. */
export const branchErrorSchema = closedObject(
  new Map([...fields, ["branch", text], ["jobId", text]]),
  required,
  typeSets.object,
);

/** The schema of a failure that expressions read. */
export const errorSchema = closedObject(new Map([...fields, ["cause", branchErrorSchema]]), required, typeSets.object);
