import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf } from "@stepwell/testing/definitions.ts";

const any = { $ref: "#/definitions/any" };

/** A step that a worker carries out. `more` are further fields of the step. */
export function taskStep(name: string, config: object, transitionToStep: string | null, more: object = {}): object {
  const integrationDetails = { type: "/service/task", config, inputDefinition: any, outputDefinition: any };
  return { name, integrationDetails, transitionToStep, ...more };
}

/** Makes a definition with one step, which a worker carries out. Its queue is `q`, unless `config` names another. */
export function taskDefinition(config: object = {}, more: object = {}): string {
  return definitionOf(taskStep("work", { queue: "q", ...config }, null, more));
}

export interface PolledTask {
  readonly taskId: string;
  readonly jobId: string;
  readonly workflowId: string;
  readonly step: string;
  readonly branch: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly input: unknown;
  readonly dueAt: string;
  readonly leaseUntil: string;
}

/** A worker that uses only HTTP. */
export class PlainWorker {
  readonly #api: Client;
  readonly #queue: string;

  constructor(api: Client, queue = "q") {
    this.#api = api;
    this.#queue = queue;
  }

  async poll(maxTasks = 1, waitSeconds = 0): Promise<readonly PolledTask[]> {
    const { body } = await this.#api.call<{ tasks: PolledTask[] }>("PollTasks", {
      params: { queue: this.#queue },
      query: { waitSeconds },
      body: { maxTasks, worker: "test" },
    });
    return body.tasks;
  }

  /** Waits for a task and takes it. */
  async next(): Promise<PolledTask> {
    const [task] = await this.poll(1, 20);
    if (task === undefined) throw new Error("No task came within 20 s.");
    return task;
  }

  async complete({ taskId }: PolledTask, output: unknown): Promise<void> {
    await this.#api.call("CompleteTask", { params: { taskId }, body: { output } });
  }

  async fail({ taskId }: PolledTask, body: object): Promise<void> {
    await this.#api.call("FailTask", { params: { taskId }, body });
  }

  async release({ taskId }: PolledTask): Promise<void> {
    await this.#api.call("ReleaseTask", { params: { taskId }, body: {} });
  }

  async heartbeat({ taskId }: PolledTask, progress?: unknown): Promise<string> {
    const body = progress === undefined ? {} : { progress };
    return (await this.#api.call<{ leaseUntil: string }>("HeartbeatTask", { params: { taskId }, body })).body
      .leaseUntil;
  }
}
