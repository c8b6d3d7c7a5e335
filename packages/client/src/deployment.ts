import { isNotFound } from "./error.ts";
import type { Answer, CallArguments, CallName } from "./operation.ts";
import type { CallOptions } from "./transport.ts";

/** Calls an operation by its name, as the client's `call` does. */
type Call = <Name extends CallName>(name: Name, ...args: CallArguments<Name, CallOptions>) => Promise<Answer<Name>>;

/** Makes a definition the newest version of its workflow, and points the tag at it. Leaves out each part that has been done already. */
export async function deploy(
  call: Call,
  organizationId: string,
  definition: string | object,
  tag: string,
  options: CallOptions,
) {
  const text = typeof definition === "string" ? definition : JSON.stringify(definition);
  const workflowId = await workflowIdFor(call, organizationId, nameIn(text), options);
  const path = { organizationId, workflowId };
  const registration = { path, query: { ifChanged: true }, body: { definition: text } };
  const version = await call("RegisterWorkflowVersion", registration, options);
  const { versionId } = version;
  const tagPath = { ...path, tag };
  // No tag points at a version that has just been made, so there is no need to ask.
  const isTagMoved = version.created || (await taggedVersionId(call, tagPath, options)) !== versionId;
  if (isTagMoved) await call("SetWorkflowVersionTag", { path: tagPath, body: { versionId } }, options);
  return { ...version, tag, isTagMoved };
}

interface TagPath {
  readonly organizationId: string;
  readonly workflowId: string;
  readonly tag: string;
}

/** The id of the version that a tag points at; undefined when there is no such tag. */
async function taggedVersionId(call: Call, path: TagPath, options: CallOptions): Promise<string | undefined> {
  try {
    return (await call("GetTaggedWorkflowVersion", { path }, options)).versionId;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function workflowIdFor(call: Call, organizationId: string, name: string, options: CallOptions): Promise<string> {
  const path = { organizationId };
  const [found] = (await call("ListWorkflows", { path, query: { name } }, options)).workflows;
  return (found ?? (await call("RegisterWorkflow", { path, body: { name } }, options))).workflowId;
}

function nameIn(definition: string): string {
  const { workflowName } = parseDefinition(definition);
  if (typeof workflowName !== "string") throw new Error("The definition has no workflowName.");
  return workflowName;
}

function parseDefinition(text: string): { workflowName?: unknown } {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`The definition is not JSON: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}
