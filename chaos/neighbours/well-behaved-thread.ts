import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { Connection } from "../../bench/connection.ts";
import { jobIdIn, RequestWriter, requireStatus } from "../../bench/requests.ts";
import { smallInput } from "../../bench/workflows.ts";
import type { LoadOutcome, LoadTask, RequestKind } from "./well-behaved.ts";

/** Each second has 25 of these rounds. Each `submit` begins a job that waits for one event, so a round has as many events as submissions. */
const round = ["submit", "read", "event", "read", "submit", "event", "read", "timer"] as const;
const requestsPerSecond = 200;
const timerMs = 1_000;
/** This many jobs are submitted before the measurement. They get the first events, so that an event seldom has to wait for its job. */
const readyJobCount = 100;

/** The requests begin at fixed times, whether or not earlier ones were answered. The time of a request counts from its fixed time. */
class Load {
  readonly #task: LoadTask;
  readonly #requests: RequestWriter;
  readonly #jobs: string;
  readonly #free: Connection[] = [];
  /** The ids of the jobs that wait for their event, the oldest first. An event goes to the oldest job, and waits if the job's id is not known yet. */
  readonly #waitingJobIds: Promise<string>[] = [];
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
    await Promise.all(Array.from({ length: readyJobCount }, () => this.#counted("submit")));
    const busy = busyTimes();
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
    const machineBusy = busyShare(busy, busyTimes());
    return { latenciesMs, errors: this.#errors, errorTexts: this.#errorTexts, machineBusy };
  }

  async #measured(kind: RequestKind, dueAt: number): Promise<void> {
    await this.#counted(kind);
    // The one second for which the timer waits does not count as delay.
    this.#latenciesMs[kind].push(performance.now() - dueAt - (kind === "timer" ? timerMs : 0));
  }

  async #counted(kind: RequestKind): Promise<void> {
    try {
      await this.#perform(kind);
    } catch (error) {
      this.#errors += 1;
      const text = error instanceof Error ? error.message : String(error);
      if (this.#errorTexts.length < 3) this.#errorTexts.push(`${kind}: ${text}`);
    }
  }

  async #perform(kind: RequestKind): Promise<void> {
    switch (kind) {
      case "submit":
        return await this.#submit();
      case "event": {
        const path = `${this.#jobs}/${await this.#waitingJobIds.shift()}/events`;
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
    const submitted = this.#ask(this.#requests.post(this.#jobs, body)).then(jobIdIn);
    this.#waitingJobIds.push(submitted);
    this.#latestJobId = await submitted;
  }

  async #timer(): Promise<void> {
    const body = { workflowId: this.#task.timerWorkflowId, inputJson: smallInput };
    const jobId = jobIdIn(await this.#ask(this.#requests.post(this.#jobs, body)));
    const answer = await this.#ask(this.#requests.get(`${this.#jobs}/${jobId}?waitSeconds=20`));
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

interface BusyTimes {
  readonly busyMs: number;
  readonly allMs: number;
}

function busyTimes(): BusyTimes {
  const times = cpus().map(({ times: { user, nice, sys, irq, idle } }) => ({ busy: user + nice + sys + irq, idle }));
  const busyMs = times.reduce((sum, { busy }) => sum + busy, 0);
  return { busyMs, allMs: times.reduce((sum, { idle }) => sum + idle, busyMs) };
}

function busyShare(before: BusyTimes, after: BusyTimes): number {
  return (after.busyMs - before.busyMs) / (after.allMs - before.allMs);
}

parentPort?.postMessage(await new Load(workerData as LoadTask).run());
