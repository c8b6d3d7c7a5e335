import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { Connection } from "../../bench/connection.ts";
import { jobIdIn, RequestWriter, requireStatus } from "../../bench/requests.ts";
import { smallInput } from "../../bench/workflows.ts";
import type { LoadOutcome, LoadTask, RequestKind } from "./well-behaved.ts";

/** One second holds 25 of these rounds. As many jobs get their event as are submitted. */
const round = ["submit", "read", "event", "read", "submit", "event", "read", "timer"] as const;
const requestsPerSecond = 200;
const timerMs = 1_000;

/** The requests begin at fixed times, whether or not earlier ones were answered, and their time counts from there. */
class Load {
  readonly #task: LoadTask;
  readonly #requests: RequestWriter;
  readonly #jobs: string;
  readonly #free: Connection[] = [];
  readonly #waitingJobIds: string[] = [];
  readonly #latenciesMs: Record<RequestKind, number[]> = { submit: [], event: [], read: [], timer: [] };
  readonly #errorTexts: string[] = [];
  #errors = 0;
  #latestJobId = "";

  constructor(task: LoadTask) {
    this.#task = task;
    this.#requests = new RequestWriter(task.port, task.token);
    this.#jobs = `/organizations/${task.organizationId}/jobs`;
  }

  async run(): Promise<LoadOutcome> {
    // An event or a read never finds itself without a job.
    for (let count = 0; count < 20; count += 1) await this.#submit();
    const begunAt = performance.now();
    const underWay: Promise<void>[] = [];
    for (let index = 0; index < this.#task.seconds * requestsPerSecond; index += 1) {
      const dueAt = begunAt + (index * 1_000) / requestsPerSecond;
      const earlyMs = dueAt - performance.now();
      if (earlyMs > 0) await sleep(earlyMs);
      underWay.push(this.#measured(round[index % round.length] ?? "read", dueAt));
    }
    await Promise.all(underWay);
    for (const connection of this.#free) connection.close();
    const { submit, event, read, timer } = this.#latenciesMs;
    const latenciesMs = {
      submit: Float64Array.from(submit),
      event: Float64Array.from(event),
      read: Float64Array.from(read),
      timer: Float64Array.from(timer),
    };
    return { latenciesMs, errors: this.#errors, errorTexts: this.#errorTexts };
  }

  async #measured(kind: RequestKind, dueAt: number): Promise<void> {
    try {
      await this.#perform(kind);
    } catch (error) {
      this.#errors += 1;
      if (this.#errorTexts.length < 3)
        this.#errorTexts.push(`${kind}: ${error instanceof Error ? error.message : error}`);
    }
    // A timer's own second is no delay.
    this.#latenciesMs[kind].push(performance.now() - dueAt - (kind === "timer" ? timerMs : 0));
  }

  async #perform(kind: RequestKind): Promise<void> {
    switch (kind) {
      case "submit":
        return await this.#submit();
      case "event": {
        const path = `${this.#jobs}/${this.#waitingJobIds.shift() ?? this.#latestJobId}/events`;
        return void requireStatus(await this.#ask(this.#requests.post(path, { eventId: "go" })), 200, 201);
      }
      case "read":
        return void requireStatus(await this.#ask(this.#requests.get(`${this.#jobs}/${this.#latestJobId}`)), 200);
      case "timer":
        return await this.#timer();
    }
  }

  async #submit(): Promise<void> {
    const body = { workflowId: this.#task.waitingWorkflowId, inputJson: smallInput };
    this.#latestJobId = jobIdIn(await this.#ask(this.#requests.post(this.#jobs, body)));
    this.#waitingJobIds.push(this.#latestJobId);
  }

  async #timer(): Promise<void> {
    const body = { workflowId: this.#task.timerWorkflowId, inputJson: smallInput };
    const jobId = jobIdIn(await this.#ask(this.#requests.post(this.#jobs, body)));
    const answer = await this.#ask(this.#requests.get(`${this.#jobs}/${jobId}?waitSeconds=60`));
    const { status } = JSON.parse(requireStatus(answer, 200).body.toString()) as { status: string };
    if (status !== "SUCCEEDED") throw new Error(`After its timer the job is ${status}.`);
  }

  async #ask(request: string) {
    let connection = this.#free.shift();
    while (connection !== undefined && !connection.isOpen) connection = this.#free.shift();
    connection ??= await Connection.open(this.#task.port, 70_000);
    const answer = await connection.ask(request);
    this.#free.push(connection);
    return answer;
  }
}

parentPort?.postMessage(await new Load(workerData as LoadTask).run());
