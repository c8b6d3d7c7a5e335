import type { CallName } from "./call.ts";

/** The id of a task in the API. It is the name of the task's call, as a text without meaning to a client. */
export function taskIdOf({ jobId, branch, step, visit, epoch }: TaskName): string {
  return Buffer.from(JSON.stringify([jobId, epoch, visit, step, branch])).toString("base64url");
}

/** Returns the name of the task's call; undefined for a text that is not a task id. */
export function readTaskId(text: string): TaskName | undefined {
  const parts = parsed(Buffer.from(text, "base64url").toString());
  if (!Array.isArray(parts)) return undefined;
  const [jobId, epoch, visit, step, branch] = parts as unknown[];
  if (typeof jobId !== "string" || !uuid.test(jobId)) return undefined;
  if (!isCount(epoch) || !isCount(visit) || !isName(step) || !isName(branch)) return undefined;
  const name = { jobId, epoch, visit, step, branch };
  // Several texts could decode to the same bytes, but a task must have only one id.
  return taskIdOf(name) === text ? name : undefined;
}

export interface TaskName extends CallName {
  readonly jobId: string;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A name in a definition has no control character. The store could not even search for a text with some of these characters. */
function isName(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed() && !/\p{Cc}/u.test(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= maxCount;
}

/** The largest value of PostgreSQL's `integer`. */
const maxCount = 2_147_483_647;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
