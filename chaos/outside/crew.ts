import { setTimeout as sleep } from "node:timers/promises";
import { between, chance, pick } from "../random.ts";
import { taskLeaseMs } from "../workflows.ts";
import type { OutsideLog } from "./outside-log.ts";
import { WorkerProcess, type WorkerWord } from "./worker-process.ts";

export interface CrewOptions {
  /** The ports of the nodes; each worker asks one of them. */
  readonly ports: readonly number[];
  readonly token: string;
  readonly organizationIds: readonly string[];
  readonly log: OutsideLog;
}

/**
 * The workers of a campaign. Again and again during the campaign, one of them is killed and replaced, or is stopped for longer than it holds its
 * tasks.
 */
export class Crew {
  readonly #options: CrewOptions;
  readonly #places: Place[];
  readonly #end = new AbortController();
  readonly #disturbing: Promise<void>;
  #workerCount = 0;
  #killedCount = 0;
  #stoppedCount = 0;

  constructor(options: CrewOptions) {
    this.#options = options;
    this.#places = options.organizationIds.flatMap((organizationId) =>
      Array.from({ length: workersPerOrganization }, () => ({ organizationId, worker: this.#hire(organizationId) })),
    );
    this.#disturbing = this.#disturb();
  }

  get counts() {
    return { workersKilled: this.#killedCount, workersStopped: this.#stoppedCount };
  }

  /** The output on standard error of the workers that ended without being killed. No worker should end like this. */
  get complaints(): string[] {
    return this.#places.flatMap(({ worker }) => worker.complaint ?? []);
  }

  /** Stops disturbing the workers. */
  async calm(): Promise<void> {
    this.#end.abort();
    await this.#disturbing;
  }

  async stop(): Promise<void> {
    await this.calm();
    await Promise.all(this.#places.map(({ worker }) => worker.kill()));
  }

  async #disturb(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      await sleep(between(200, 800), undefined, { signal }).catch(() => {});
      const place = pick(this.#places);
      await place.worker.givenTask(1_000);
      if (signal.aborted) return;
      await (chance(0.5) ? this.#kill(place) : this.#pause(place));
    }
  }

  async #kill(place: Place): Promise<void> {
    this.#killedCount += 1;
    await place.worker.kill();
    await sleep(between(0, taskLeaseMs));
    place.worker = this.#hire(place.organizationId);
  }

  async #pause({ worker }: Place): Promise<void> {
    this.#stoppedCount += 1;
    worker.signal("SIGSTOP");
    await sleep(taskLeaseMs + between(200, 1_500));
    worker.signal("SIGCONT");
  }

  #hire(organizationId: string): WorkerProcess {
    const { ports, token, log } = this.#options;
    this.#workerCount += 1;
    const holder = `worker-${this.#workerCount}`;
    const baseUrl = `http://127.0.0.1:${pick(ports)}`;
    return new WorkerProcess({ baseUrl, token, organizationId, name: workerName }, (word) => note(log, holder, word));
  }
}

interface Place {
  readonly organizationId: string;
  worker: WorkerProcess;
}

function note(log: OutsideLog, holder: string, { type, ...attempt }: WorkerWord): void {
  if (type === "handedOut") log.handOut({ ...attempt, holder });
  else log.answer({ ...attempt, holder, isTaken: type === "taken" });
}

const workersPerOrganization = 2;
/** All workers have one name, as copies of one program do. No task may depend on the name. */
const workerName = "chaos";
