import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { isTerminal } from "../../core/job/job-state.ts";
import type { ChangedJob } from "../../engine/commit/batch.ts";
import type { CommitStats } from "../../engine/commit/group-commit.ts";
import { explainListening } from "../door/listening.ts";
import type { RequestMetrics } from "../door/request-metrics.ts";
import type { QueueGauge } from "./queue-gauges.ts";

/** The values of the gauges. They are read when somebody asks for the metrics. */
export interface Gauges {
  readonly queuedFacts: number;
  readonly runningCalls: number;
  readonly waitingCalls: number;
  readonly waitingRequests: number;
  readonly parkedVersions: number;
  readonly parkedJobs: number;
}

/** The metrics of this node. They have their own registry, so that two nodes in one process (as in tests) do not mix. */
export class Metrics implements RequestMetrics {
  readonly registry = new Registry();
  #gauges: (() => Gauges) | undefined;
  #requestsInFlight = 0;

  readonly #requests = new Histogram({
    name: "stepwell_http_request_seconds",
    help: "The time that requests took, by operation and status.",
    labelNames: ["operation", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers: [this.registry],
  });
  readonly #limited = new Counter({
    name: "stepwell_rate_limited_total",
    help: "Requests that a rate limit refused, by scope (organization, token, user) and policy (requests, submits). The scope `door` with the policy `refusals` counts requests that were refused before they were authorized, because too many requests of their network or caller had been refused.",
    labelNames: ["scope", "policy"],
    registers: [this.registry],
  });
  readonly #commits = new Histogram({
    name: "stepwell_commit_seconds",
    help: "The time that one transaction of the group commit took.",
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [this.registry],
  });
  readonly #batches = new Histogram({
    name: "stepwell_commit_batch_size",
    help: "The number of facts in one transaction.",
    buckets: [1, 2, 5, 10, 25, 50, 100, 200, 400],
    registers: [this.registry],
  });
  readonly #jobs = new Counter({
    name: "stepwell_jobs_total",
    help: "Jobs that were submitted or that ended on this node, by outcome.",
    labelNames: ["outcome"],
    registers: [this.registry],
  });
  readonly #steps = new Counter({
    name: "stepwell_steps_total",
    help: "Steps that ended and attempts that failed, by outcome.",
    labelNames: ["outcome"],
    registers: [this.registry],
  });
  readonly #handOuts = new Histogram({
    name: "stepwell_task_hand_out_seconds",
    help: "The time for which tasks were due before this node handed them to a worker.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3600],
    registers: [this.registry],
  });
  readonly #lostLeases = new Counter({
    name: "stepwell_task_leases_lost_total",
    help: "Expired leases of workers whose tasks this node took back.",
    registers: [this.registry],
  });
  /** The children of the histogram by their labels. They are kept because looking up a child costs more than the observation. */
  readonly #requestChildren = new Map<string, Histogram.Internal<"operation" | "status">>();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    this.#gauge("stepwell_http_requests_in_flight", "Requests under way.", () => this.#requestsInFlight);
    this.#gauge("stepwell_queued_facts", "Facts that wait for a transaction.", () => this.#gauges?.().queuedFacts);
    this.#gauge("stepwell_calls_running", "Executor calls under way.", () => this.#gauges?.().runningCalls);
    this.#gauge(
      "stepwell_calls_waiting",
      "Executor calls that wait on this node for their turn.",
      () => this.#gauges?.().waitingCalls,
    );
    this.#gauge(
      "stepwell_requests_waiting",
      "Requests and streams that wait for jobs or tasks. A stream of several jobs counts once for each job.",
      () => this.#gauges?.().waitingRequests,
    );
    this.#gauge(
      "stepwell_parked_versions",
      "Versions that this node cannot compile, so that their jobs wait for another node or an update.",
      () => this.#gauges?.().parkedVersions,
    );
    this.#gauge(
      "stepwell_parked_jobs",
      "Jobs that this node cannot continue because of an internal error, and that it tries again from time to time.",
      () => this.#gauges?.().parkedJobs,
    );
  }

  /** Sets the function that reads the engine's gauges. */
  watch(gauges: () => Gauges): void {
    this.#gauges = gauges;
  }

  /** Adds gauges of task queues, which `read` measures. */
  watchQueues(read: () => Promise<readonly QueueGauge[]>): void {
    for (const [name, help, measure] of queueGauges) {
      new Gauge({
        name: `stepwell_task_queue_${name}`,
        help,
        labelNames: ["organization", "queue"],
        registers: [this.registry],
        async collect() {
          const queues = await read();
          // A queue that is no longer measured must not keep its last value.
          this.reset();
          for (const found of queues) {
            const { organization, queue } = found;
            this.set({ organization, queue }, measure(found));
          }
        },
      });
    }
  }

  /** Called after this node has handed out tasks, with the time for which each task had been due. */
  tasksHandedOut(dueForMs: readonly number[]): void {
    for (const ms of dueForMs) this.#handOuts.observe(ms / 1000);
  }

  leasesLost(count: number): void {
    this.#lostLeases.inc(count);
  }

  requestStarted(): void {
    this.#requestsInFlight += 1;
  }

  requestFinished(operationId: string, status: number, durationMs: number): void {
    this.#requestsInFlight -= 1;
    const key = `${operationId} ${status}`;
    let child = this.#requestChildren.get(key);
    if (child === undefined) {
      child = this.#requests.labels(operationId, String(status));
      this.#requestChildren.set(key, child);
    }
    child.observe(durationMs / 1000);
  }

  requestLimited(scope: string, policy: string): void {
    this.#limited.inc({ scope, policy });
  }

  committed(changed: readonly ChangedJob[], { commandCount, durationMs }: CommitStats): void {
    this.#commits.observe(durationMs / 1000);
    this.#batches.observe(commandCount);
    // The jobs are counted here first, because a labelled counter costs a look-up, and a batch may have hundreds of jobs.
    const jobs = new Map<string, number>();
    const steps = new Map<string, number>();
    for (const { job, entries } of changed) {
      if (entries[0]?.sequence === 1) countOne(jobs, "submitted");
      if (isTerminal(job.state.status)) countOne(jobs, job.state.status.toLowerCase());
      for (const { type } of entries) {
        const outcome = stepOutcomes.get(type);
        if (outcome !== undefined) countOne(steps, outcome);
      }
    }
    for (const [outcome, count] of jobs) this.#jobs.inc({ outcome }, count);
    for (const [outcome, count] of steps) this.#steps.inc({ outcome }, count);
  }

  #gauge(name: string, help: string, read: () => number | undefined): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read() ?? 0);
      },
    });
  }
}

const queueGauges: readonly (readonly [name: string, help: string, measure: (queue: QueueGauge) => number])[] = [
  ["waiting", "The number of tasks that wait for a worker, counted up to 10,000.", ({ waitingCount }) => waitingCount],
  ["held", "The number of tasks that workers hold, counted up to 10,000.", ({ heldCount }) => heldCount],
  ["oldest_seconds", "The time for which the oldest waiting task has been due.", ({ oldestSeconds }) => oldestSeconds],
  ["workers", "The number of workers that asked for tasks in the last five minutes.", ({ workerCount }) => workerCount],
  ["paused", "1 while the queue is paused, otherwise 0.", ({ isPaused }) => Number(isPaused)],
];

const stepOutcomes: ReadonlyMap<string, string> = new Map([
  ["step.succeeded", "success"],
  ["step.failed", "failure"],
  ["step.attemptFailed", "retry"],
]);

function countOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

export interface MetricsServerOptions {
  readonly host: string;
  /** The port. If undefined, the port after `apiPort`, or any free port when that one is taken. */
  readonly port: number | undefined;
  readonly apiPort: number;
}

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves `/metrics` on its own address, which need not be public. */
export async function serveMetrics(metrics: Metrics, options: MetricsServerOptions): Promise<MetricsServer> {
  const { host, port, apiPort } = options;
  if (port !== undefined) return await listen(metrics, host, port);
  try {
    return await listen(metrics, host, apiPort + 1);
  } catch {
    return await listen(metrics, host, 0);
  }
}

const variables = { hostVariable: "STEPWELL_METRICS_HOST", portVariable: "STEPWELL_METRICS_PORT" };

async function listen(metrics: Metrics, host: string, port: number): Promise<MetricsServer> {
  const server = createServer(async (request, response) => {
    if (request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    const text = await metrics.registry.metrics();
    response.writeHead(200, { "content-type": metrics.registry.contentType }).end(text);
  });
  server.listen(port, host);
  await once(server, "listening").catch((error: unknown) => {
    throw explainListening(error, { host, port, ...variables });
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
