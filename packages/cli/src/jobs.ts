import { type Connection, connect } from "./connection.ts";
import { printJson } from "./terminal.ts";

export async function submit(workflow: string, options: { input: string; tag: string; wait: string }): Promise<void> {
  const connection = await connect();
  const { client, organizationId } = connection;
  const workflowId = await workflowIdOf(connection, workflow);
  const body = {
    workflowId,
    workflowVersion: { tag: options.tag },
    inputJson: parse(options.input, "--input") as Record<string, unknown>,
  };
  const waitSeconds = Number(options.wait);
  printJson(await client.submitJob(organizationId, body, waitSeconds > 0 ? { waitSeconds } : {}));
}

export async function showJob(jobId: string): Promise<void> {
  const { client, organizationId } = await connect();
  printJson(await client.getJob(organizationId, jobId));
}

export async function sendEvent(jobId: string, eventId: string, options: EventOptions): Promise<void> {
  const { client, organizationId } = await connect();
  const { payload, step, visit } = options;
  const body = {
    eventId,
    ...(payload !== undefined && { payload: parse(payload, "--payload") }),
    ...(step !== undefined && { step }),
    ...(visit !== undefined && { visit: Number(visit) }),
  };
  printJson(await client.sendEvent(organizationId, jobId, body));
}

interface EventOptions {
  readonly payload?: string;
  readonly step?: string;
  readonly visit?: string;
}

async function workflowIdOf({ client, organizationId }: Connection, workflow: string): Promise<string> {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(workflow)) return workflow;
  const found = await client.findWorkflow(organizationId, workflow);
  if (found === undefined) throw new Error(`There is no workflow named ${workflow}.`);
  return found.workflowId;
}

function parse(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${option} is not JSON: ${error instanceof Error ? error.message : error}`);
  }
}
