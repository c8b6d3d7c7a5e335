import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type FunctionAnswer, type FunctionServer, functionStep } from "@stepwell/testing/functions/function-server.ts";
import { type Api, type Definition, registerWorkflow } from "@stepwell/testing/processes/api.ts";
import type { RequestWriter } from "../bench/requests.ts";
import { Caller } from "./caller.ts";
import { type Finding, violation } from "./check/finding.ts";
import { isTerminal, type JobStatus } from "./operation.ts";

export interface LongJob {
  readonly jobId: string;
  /** The port of the node that accepted the job. This node makes the job's calls until it dies. */
  readonly port: number;
}

/** Jobs whose calls take long. Each job makes one call, or several in branches, to a function that records every call. */
export class LongCalls {
  readonly #functions: FunctionServer;
  readonly #requests: RequestWriter;
  readonly #organizationId: string;
  readonly #workflowId: string;
  readonly #callsPerJob: number;

  static answers(callMs: number): Record<string, FunctionAnswer> {
    return { slow: (call) => void setTimeout(() => call.succeed(), callMs) };
  }

  static async prepare(functions: FunctionServer, options: LongCallsOptions): Promise<LongCalls> {
    const { api, organizationId, callsPerJob } = options;
    const workflowId = await registerWorkflow(api, organizationId, definitionOf(callsPerJob));
    return new LongCalls(functions, workflowId, options);
  }

  private constructor(
    functions: FunctionServer,
    workflowId: string,
    { requests, organizationId, callsPerJob }: LongCallsOptions,
  ) {
    this.#functions = functions;
    this.#requests = requests;
    this.#organizationId = organizationId;
    this.#workflowId = workflowId;
    this.#callsPerJob = callsPerJob;
  }

  /** Submits to each node as many jobs as are needed for this number of calls, and repeats each request until the node acknowledges it. */
  async submit(ports: readonly number[], callsPerNode: number): Promise<LongJob[]> {
    const each = ports.flatMap((port) => Array.from({ length: callsPerNode / this.#callsPerJob }, () => port));
    return await Promise.all(each.map(async (port) => ({ port, jobId: await this.#submitOne(port) })));
  }

  /** How many calls these jobs must make. */
  countOwed(jobs: readonly LongJob[]): number {
    return jobs.length * this.#callsPerJob;
  }

  countBegun(jobs: readonly LongJob[]): number {
    return jobs.reduce((sum, { jobId }) => sum + this.#keysOf(jobId).length, 0);
  }

  /** Counts how often the function received a call of these jobs again. */
  countRepeated(jobs: readonly LongJob[]): number {
    return jobs.reduce((sum, { jobId }) => sum + this.#functions.callsOf(jobId).length - this.#keysOf(jobId).length, 0);
  }

  /** Returns the keys of the job's calls that have begun. A call has the same key on every node that makes it. */
  #keysOf(jobId: string): string[] {
    return [...new Set(this.#functions.callsOf(jobId).map(({ idempotencyKey }) => idempotencyKey))];
  }

  /**
   * Waits until each job has ended, reading from the node at `readPort`, and returns the defects of these jobs. It is no defect if calls of the node
   * at `deadPort` were made again.
   */
  async check(
    jobs: readonly LongJob[],
    { readPort, deadlineMs, deadPort }: { readPort: number; deadlineMs: number; deadPort: number | undefined },
  ): Promise<Finding[]> {
    const found = await Promise.all(
      jobs.map(async ({ jobId, port }): Promise<Finding[]> => {
        const ended = await this.#endOf(jobId, readPort, deadlineMs);
        const callCount = this.#functions.callsOf(jobId).length;
        if (ended === "lost") return [{ kind: "lost", subject: jobId, detail: "It was acknowledged and is gone." }];
        if (ended !== "SUCCEEDED") return [violation(jobId, `Its status is ${ended}, after ${callCount} calls.`)];
        if (this.#keysOf(jobId).length !== this.#callsPerJob)
          return [violation(jobId, `It made ${this.#keysOf(jobId).length} of ${this.#callsPerJob} calls.`)];
        if (callCount === this.#callsPerJob || port === deadPort) return [];
        const detail = `Its ${this.#callsPerJob} calls were made ${callCount} times in all, though the node that made them did not die.`;
        return [{ kind: "duplicated", subject: jobId, detail }];
      }),
    );
    return found.flat();
  }

  async #submitOne(port: number): Promise<string> {
    const caller = new Caller([port], answerTimeoutMs);
    const body = { workflowId: this.#workflowId, inputJson: {} };
    const request = this.#requests.post(`/organizations/${this.#organizationId}/jobs`, body, randomUUID());
    for (;;) {
      const outcome = await caller.ask(request, ({ jobId }: { jobId: string }) => jobId);
      if (outcome.type === "rejected") throw new Error(`A job was refused: ${outcome.httpStatus} ${outcome.code}.`);
      caller.close();
      if (outcome.type === "ok") return outcome.answer;
      await sleep(pauseMs);
    }
  }

  /**
   * Waits until the job has ended, at most until the deadline. Returns the last status that was read; `lost` if the job does not exist, and `unknown`
   * if its status could not be read.
   */
  async #endOf(jobId: string, port: number, deadlineMs: number): Promise<JobStatus | "lost" | "unknown"> {
    const caller = new Caller([port], answerTimeoutMs);
    const request = this.#requests.get(`/organizations/${this.#organizationId}/jobs/${jobId}`);
    let known: JobStatus | "unknown" = "unknown";
    for (;;) {
      const outcome = await caller.ask(request, ({ status }: { status: JobStatus }) => status);
      if (outcome.type === "rejected" && outcome.code === "NotFoundError") {
        caller.close();
        return "lost";
      }
      if (outcome.type === "ok") known = outcome.answer;
      if ((known !== "unknown" && isTerminal(known)) || performance.now() > deadlineMs) {
        caller.close();
        return known;
      }
      await sleep(pauseMs);
    }
  }
}

interface LongCallsOptions {
  readonly api: Api;
  readonly requests: RequestWriter;
  readonly organizationId: string;
  readonly callsPerJob: number;
}

function definitionOf(callsPerJob: number): Definition {
  const call = functionStep("call", "slow", null);
  const each = { $ref: "#/definitions/any" };
  const items = Array.from({ length: callsPerJob }, () => ({}));
  const config = { items, step: "call", concurrency: callsPerJob, output: "counts" };
  const integrationDetails = { type: "/service/forEach", config, inputDefinition: each, outputDefinition: each };
  const fork = { name: "each", integrationDetails, transitionToStep: null };
  return {
    workflowName: "long-call",
    steps: callsPerJob === 1 ? [call] : [fork, call],
    definitions: { any: { type: "object" } },
  };
}

const answerTimeoutMs = 10_000;
const pauseMs = 200;
