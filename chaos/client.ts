import { setTimeout as sleep } from "node:timers/promises";
import type { RequestWriter } from "../bench/requests.ts";
import type { Caller } from "./caller.ts";
import type { EventOutcome, JobKey, JobStatus, Operation } from "./operation.ts";
import type { Intent, Population } from "./population.ts";
import { between, chance } from "./random.ts";
import type { Recorder } from "./recorder.ts";

/** A user of the service who sends one request after the other, in bursts, and records the results. */
export class Client {
  readonly #number: number;
  readonly #caller: Caller;
  readonly #requests: RequestWriter;
  readonly #population: Population;
  readonly #recorder: Recorder;

  constructor(
    number: number,
    caller: Caller,
    { requests, population, recorder }: { requests: RequestWriter; population: Population; recorder: Recorder },
  ) {
    this.#number = number;
    this.#caller = caller;
    this.#requests = requests;
    this.#population = population;
    this.#recorder = recorder;
  }

  async runUntil(end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      const { outcome } = await this.perform(this.#population.nextIntent());
      // A client pauses before it tries an unreachable service again.
      if (outcome.type === "info") await sleep(between(200, 800), undefined, { signal: end }).catch(() => {});
      else if (chance(0.2)) await sleep(between(0, 100));
    }
    this.#caller.close();
  }

  async perform(intent: Intent): Promise<Operation> {
    const startedAtMs = performance.now();
    const asked = await this.#ask(intent);
    const operation = { ...asked, client: this.#number, startedAtMs, endedAtMs: performance.now() };
    this.#recorder.record(operation);
    this.#population.learn(operation);
    return operation;
  }

  async #ask(intent: Intent): Promise<Asked> {
    switch (intent.type) {
      case "submit": {
        const { organizationId, workflowId, input, idempotencyKey } = intent.submission;
        const body = { workflowId, inputJson: input };
        const request = this.#requests.post(`/organizations/${organizationId}/jobs`, body, idempotencyKey);
        return { ...intent, outcome: await this.#caller.ask(request, submitted) };
      }
      case "sendEvent": {
        const { nonce, eventId, step, branch, idempotencyKey } = intent.sending;
        const body = { eventId, step, branch, payload: { nonce } };
        const request = this.#requests.post(`${pathOf(intent.sending)}/events`, body, idempotencyKey);
        return { ...intent, outcome: await this.#caller.ask(request, received) };
      }
      case "cancel":
      case "resume": {
        const request = this.#requests.post(`${pathOf(intent.job)}/${intent.type}`);
        return { ...intent, outcome: await this.#caller.ask(request, shown) };
      }
      case "read": {
        const request = this.#requests.get(pathOf(intent.job));
        return { ...intent, outcome: await this.#caller.ask(request, shown) };
      }
    }
  }
}

type Asked = Operation extends infer Each ? (Each extends Operation ? Omit<Each, Measured> : never) : never;
type Measured = "client" | "startedAtMs" | "endedAtMs";

function pathOf({ organizationId, jobId }: JobKey): string {
  return `/organizations/${organizationId}/jobs/${jobId}`;
}

const submitted = ({ jobId, status }: { jobId: string; status: JobStatus }) => ({ jobId, status });
const received = ({ outcome }: { outcome: EventOutcome }) => ({ outcome });
const shown = ({ status }: { status: JobStatus }) => ({ status });
