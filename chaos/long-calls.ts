import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { FunctionServer, functionStep } from "@stepwell/testing/functions/function-server.ts";
import { type Api, registerWorkflow } from "@stepwell/testing/processes/api.ts";
import type { RequestWriter } from "../bench/requests.ts";
import { Caller } from "./caller.ts";
import { type Finding, violation } from "./check/finding.ts";
import { isTerminal, type JobStatus } from "./operation.ts";

export interface LongCall {
  readonly jobId: string;
  /** The node that took the job, and makes its call. */
  readonly port: number;
}

/** Jobs that make one call each, which takes long, and the function that they call. It counts who calls it. */
export class LongCalls {
  readonly #functions: FunctionServer;
  readonly #requests: RequestWriter;
  readonly #organizationId: string;
  readonly #workflowId: string;

  static startFunction(callMs: number): Promise<FunctionServer> {
    return FunctionServer.start({ slow: (call) => void setTimeout(() => call.succeed(), callMs) });
  }

  static async prepare(
    functions: FunctionServer,
    { api, requests, organizationId }: { api: Api; requests: RequestWriter; organizationId: string },
  ): Promise<LongCalls> {
    const definition = {
      workflowName: "long-call",
      steps: [functionStep("call", "slow", null)],
      definitions: { any: { type: "object" } },
    };
    const workflowId = await registerWorkflow(api, organizationId, definition);
    return new LongCalls(functions, requests, { organizationId, workflowId });
  }

  private constructor(
    functions: FunctionServer,
    requests: RequestWriter,
    { organizationId, workflowId }: { organizationId: string; workflowId: string },
  ) {
    this.#functions = functions;
    this.#requests = requests;
    this.#organizationId = organizationId;
    this.#workflowId = workflowId;
  }

  /** Submits so many jobs to each node, again and again until it says that it has them. */
  async submit(ports: readonly number[], countPerNode: number): Promise<LongCall[]> {
    const each = ports.flatMap((port) => Array.from({ length: countPerNode }, () => port));
    return await Promise.all(each.map(async (port) => ({ port, jobId: await this.#submitOne(port) })));
  }

  /** How many of these calls have begun. */
  countBegun(calls: readonly LongCall[]): number {
    return calls.filter(({ jobId }) => this.#functions.callsOf(jobId).length > 0).length;
  }

  /** How often the function was called for these jobs beyond once each. */
  countRepeated(calls: readonly LongCall[]): number {
    return calls.reduce((sum, { jobId }) => sum + Math.max(0, this.#functions.callsOf(jobId).length - 1), 0);
  }

  /**
   * Waits until each job has ended, reading from the node at `readPort`, and says what is wrong with it. Calls that `deadPort`'s node made may have
   * been made again.
   */
  async check(
    calls: readonly LongCall[],
    { readPort, deadlineMs, deadPort }: { readPort: number; deadlineMs: number; deadPort: number | undefined },
  ): Promise<Finding[]> {
    const found = await Promise.all(
      calls.map(async ({ jobId, port }): Promise<Finding[]> => {
        const ended = await this.#endOf(jobId, readPort, deadlineMs);
        const callCount = this.#functions.callsOf(jobId).length;
        if (ended === "lost") return [{ kind: "lost", subject: jobId, detail: "It was acknowledged and is gone." }];
        if (ended !== "SUCCEEDED") return [violation(jobId, `It is ${ended}, after ${callCount} calls.`)];
        if (callCount === 1 || port === deadPort) return [];
        const detail = `Its call was made ${callCount} times, though the node that made it lived.`;
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

  /** The status at the deadline, if it has not ended by then. */
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

const answerTimeoutMs = 10_000;
const pauseMs = 200;
