import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Child } from "../store/child.ts";

export type NodeProcess = Child<{ readonly baseUrl: string }>;

/** A node in a process of its own, for what happens to processes. Ends with its test. */
export async function startNodeProcess(environment: Record<string, string>): Promise<NodeProcess> {
  const child = await Child.start<{ baseUrl: string }>(join(import.meta.dirname, "node-process.ts"), [], {
    STEPWELL_PORT: "0",
    STEPWELL_METRICS_PORT: "0",
    STEPWELL_LOG_LEVEL: "error",
    ...environment,
  });
  onTestFinished(() => child.kill());
  return child;
}
