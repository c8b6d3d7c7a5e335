import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { percentile, rounded } from "../../bench/samples.ts";

/** The result of one measurement of the well-behaved organization. Times are in milliseconds. */
export interface Measurement {
  readonly samples: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The 99th percentile of each kind of request, to show which kinds suffer. */
  readonly p99MsOf: Readonly<Record<RequestKind, number>>;
  readonly errors: number;
  /** The first few error messages. */
  readonly errorTexts: readonly string[];
  /** The share of the machine's processors that all programs together used. If it is close to 1, the figures say little about the service. */
  readonly machineBusy: number;
}

export const requestKinds = ["submit", "event", "read", "timer"] as const;
export type RequestKind = (typeof requestKinds)[number];

/** The instructions that the thread gets at its start. */
export interface LoadTask {
  readonly port: number;
  readonly token: string;
  readonly organizationId: string;
  /** A job of this workflow waits for the event `go`. */
  readonly waitingWorkflowId: string;
  /** A job of this workflow pauses for one second and ends. */
  readonly timerWorkflowId: string;
  readonly seconds: number;
}

/** What the thread reports at its end. */
export interface LoadOutcome extends Pick<Measurement, "errors" | "errorTexts" | "machineBusy"> {
  readonly latenciesMs: Readonly<Record<RequestKind, Float64Array>>;
}

/**
 * Measures an organization that sends 200 requests a second. The measurement runs in a thread of its own, so that the time that the main thread
 * spends on the hostile tenant is not measured as time of the service.
 */
export async function measure(task: LoadTask): Promise<Measurement> {
  const worker = new Worker(new URL("./well-behaved-thread.ts", import.meta.url), { workerData: task });
  const [outcome] = (await once(worker, "message")) as [LoadOutcome];
  const { latenciesMs, errors, errorTexts, machineBusy } = outcome;
  const all = Float64Array.from(requestKinds.flatMap((kind) => [...latenciesMs[kind]]));
  const p99MsOf = Object.fromEntries(requestKinds.map((kind) => [kind, rounded(percentile(latenciesMs[kind], 99))]));
  return {
    samples: all.length,
    p50Ms: rounded(percentile(all, 50)),
    p99Ms: rounded(percentile(all, 99)),
    maxMs: rounded(percentile(all, 100)),
    p99MsOf: p99MsOf as Record<RequestKind, number>,
    errors,
    errorTexts,
    machineBusy: rounded(machineBusy),
  };
}
