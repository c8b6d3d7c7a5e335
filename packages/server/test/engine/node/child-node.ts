import { join } from "node:path";
import { Child } from "@stepwell/testing/child.ts";
import { onTestFinished } from "vitest";

export interface ReadyNode {
  readonly baseUrl: string;
  readonly nodeId: string;
  /** The first owner. Set only if the store was empty. */
  readonly owner?: { readonly organizationId: string; readonly token: string };
}

export type NodeProcess = Child<ReadyNode>;

/** The organization that the process made on an empty store. */
export function firstOrganization({ ready: { owner } }: NodeProcess): FirstOrganization {
  if (owner === undefined) throw new Error("The store was not empty.");
  const { organizationId, token } = owner;
  return { organizationId, owner: { token } };
}

export interface FirstOrganization {
  readonly organizationId: string;
  readonly owner: { readonly token: string };
}

/** Starts a node in a process of its own, which the test can kill or suspend. The process ends with its test. */
export async function startNodeProcess(environment: Record<string, string>): Promise<NodeProcess> {
  const child = await Child.start<ReadyNode>(join(import.meta.dirname, "node-process.ts"), [], {
    STEPWELL_PORT: "0",
    STEPWELL_METRICS_PORT: "0",
    STEPWELL_LOG_LEVEL: "error",
    ...environment,
  });
  onTestFinished(() => child.kill());
  return child;
}
