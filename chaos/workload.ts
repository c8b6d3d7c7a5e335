import { setTimeout as sleep } from "node:timers/promises";
import { type FunctionAnswer, type FunctionCall, FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import { Crew, type CrewOptions } from "./outside/crew.ts";
import { OutsideLog } from "./outside/outside-log.ts";
import { between, chance } from "./random.ts";
import { forkedShapes, functionName, linearShapes, type WorkflowShape } from "./workflows.ts";

/**
 * The kinds of jobs in a campaign. `linear`: no-ops and waits, one after the other. `forks`: branches with calls, tasks of workers, child jobs and
 * waits.
 */
export const workloads = ["linear", "forks"] as const;
export type WorkloadName = (typeof workloads)[number];

/** The workflows of a campaign, with the functions and workers that they need. */
export class Workload {
  readonly shapes: readonly WorkflowShape[];
  readonly functions: FunctionServer;
  readonly log = new OutsideLog();
  readonly #hasWorkers: boolean;
  #crew: Crew | undefined;

  /** `answers` has further functions by their names. */
  static async start(name: WorkloadName, answers: Readonly<Record<string, FunctionAnswer>> = {}): Promise<Workload> {
    let log: OutsideLog | undefined;
    const work = (call: FunctionCall) => {
      const { jobId, idempotencyKey, attempt } = call;
      log?.handOut({ jobId, idempotencyKey, attempt, holder: functionName });
      void carryOut(call);
    };
    const workload = new Workload(name, await FunctionServer.start({ ...answers, [functionName]: work }));
    log = workload.log;
    return workload;
  }

  private constructor(name: WorkloadName, functions: FunctionServer) {
    this.shapes = name === "forks" ? [...forkedShapes, ...linearShapes.slice(-1)] : linearShapes;
    this.#hasWorkers = name === "forks";
    this.functions = functions;
  }

  /** The settings by which a service finds the functions. */
  get environment(): Record<string, string> {
    return this.functions.environment;
  }

  /** Starts the workers that the workload needs, if any, and begins to disturb them. */
  hire(options: Omit<CrewOptions, "log">): void {
    if (this.#hasWorkers) this.#crew = new Crew({ ...options, log: this.log });
  }

  /** Stops disturbing the workers. */
  async calm(): Promise<void> {
    await this.#crew?.calm();
  }

  /** The output on standard error of the workers that ended without being killed. No worker should end like this. */
  get complaints(): readonly string[] {
    return this.#crew?.complaints ?? [];
  }

  get counts(): Readonly<Record<string, number>> {
    return this.#crew === undefined ? {} : { ...this.#crew.counts, ...this.log.tally() };
  }

  /** The reasons why a run proves nothing about its workers. Empty if it proves something, or has no workers. */
  get reasonsWhyVoid(): string[] {
    if (this.#crew === undefined) return [];
    const { handedToAnother, takenAnswers, refusedAnswers } = this.log.tally();
    const needed: readonly [number, string][] = [
      [handedToAnother, "no task of a lost worker went to another one"],
      [takenAnswers, "no answer of a worker was taken"],
      [refusedAnswers, "no answer of a worker came too late or twice"],
    ];
    return needed.filter(([count]) => count === 0).map(([, reason]) => reason);
  }

  async stop(): Promise<void> {
    await this.#crew?.stop();
    await this.functions.stop();
  }
}

async function carryOut(call: FunctionCall): Promise<void> {
  await sleep(chance(0.2) ? between(100, 600) : between(0, 30));
  const { luck } = call.input as { readonly luck?: string };
  if (luck === "doomed" || (luck === "unlucky" && call.attempt === 1)) call.fail();
  else call.succeed({ attempt: call.attempt });
}
