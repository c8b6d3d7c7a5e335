import { isNotFound, tooLate } from "./error.ts";
import type { Answer, CallArguments, CallName } from "./operation.ts";
import { withinTime } from "./time-limit.ts";
import type { CallOptions } from "./transport.ts";

type Call = <Name extends CallName>(name: Name, ...args: CallArguments<Name, CallOptions>) => Promise<Answer<Name>>;

/**
 * Registers a definition as the newest version of its workflow, and points the tag at this version. If there is no such workflow, makes it first.
 * Leaves out each part that has been done already. `timeoutMs` limits all requests of the deployment together. Each request that takes a key gets
 * its own, made from `idempotencyKey`.
 */
export async function deploy(
  call: Call,
  organizationId: string,
  definition: string | object,
  tag: string,
  { signal, timeoutMs, ...options }: CallOptions,
) {
  const limit = { signal, ms: timeoutMs, late: () => tooLate(timeoutMs) };
  const text = typeof definition === "string" ? definition : JSON.stringify(definition);
  return await withinTime(
    limit,
    async (signal) => await deployText(call, { organizationId, text, tag }, { ...options, signal }),
  );
}

interface Deployment {
  readonly organizationId: string;
  /** The text of the definition. */
  readonly text: string;
  readonly tag: string;
}

async function deployText(
  call: Call,
  { organizationId, text, tag }: Deployment,
  { idempotencyKey, ...options }: CallOptions,
) {
  const workflowId = await workflowIdFor(call, { organizationId, name: nameIn(text) }, { ...options, idempotencyKey });
  const path = { organizationId, workflowId };
  const registration = { path, query: { ifChanged: true }, body: { definition: text } };
  const ownKey = await keyFor("RegisterWorkflowVersion", idempotencyKey);
  const version = await call("RegisterWorkflowVersion", registration, { ...options, idempotencyKey: ownKey });
  const { versionId } = version;
  const tagPath = { ...path, tag };
  // No tag points at a version that has just been made, so there is no need to ask.
  const isTagMoved = version.created || (await taggedVersionId(call, tagPath, options)) !== versionId;
  // This operation takes no key.
  if (isTagMoved) await call("SetWorkflowVersionTag", { path: tagPath, body: { versionId } }, options);
  return { ...version, tag, isTagMoved };
}

/**
 * Returns the idempotency key of one request of a deployment. Each request needs its own key, so the key contains the name of the operation. The hash
 * keeps the key short enough for the service. An invalid `idempotencyKey` is returned unchanged, so that the service rejects it.
 */
async function keyFor(operation: CallName, idempotencyKey: string | undefined): Promise<string | undefined> {
  if (idempotencyKey === undefined || !/^[!-~]{1,255}$/.test(idempotencyKey)) return idempotencyKey;
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(idempotencyKey));
  const hex = Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0"));
  return `${operation}-${hex.join("")}`;
}

interface TagPath {
  readonly organizationId: string;
  readonly workflowId: string;
  readonly tag: string;
}

async function taggedVersionId(call: Call, path: TagPath, options: CallOptions): Promise<string | undefined> {
  try {
    return (await call("GetTaggedWorkflowVersion", { path }, options)).versionId;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function workflowIdFor(
  call: Call,
  { organizationId, name }: { readonly organizationId: string; readonly name: string },
  { idempotencyKey, ...options }: CallOptions,
): Promise<string> {
  const path = { organizationId };
  const [found] = (await call("ListWorkflows", { path, query: { name } }, options)).workflows;
  if (found !== undefined) return found.workflowId;
  const ownKey = await keyFor("RegisterWorkflow", idempotencyKey);
  const made = await call("RegisterWorkflow", { path, body: { name } }, { ...options, idempotencyKey: ownKey });
  return made.workflowId;
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
