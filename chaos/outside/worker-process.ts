import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { own } from "@stepwell/testing/processes/owned.ts";

export interface WorkerAssignment {
  readonly baseUrl: string;
  readonly token: string;
  readonly organizationId: string;
  readonly name: string;
}

/** What a worker reports about a task: the worker was given it, or the service took or refused the worker's answer. */
export interface WorkerWord {
  readonly type: "handedOut" | "taken" | "refused";
  readonly jobId: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
}

export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #isKilled = false;
  #complaint = "";

  constructor(assignment: WorkerAssignment, hear: (word: WorkerWord) => void) {
    this.#child = fork(program, [JSON.stringify(assignment)], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
    this.#child.on("message", (word) => hear(word as WorkerWord));
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#complaint += chunk.toString();
    });
    const release = own(() => this.#child.kill("SIGKILL"));
    this.#ended = once(this.#child, "exit").then(release);
  }

  /** Waits until the worker next reports something about a task, but at most this long. */
  async givenTask(timeoutMs: number): Promise<void> {
    await once(this.#child, "message", { signal: AbortSignal.timeout(timeoutMs) }).catch(() => {});
  }

  async kill(): Promise<void> {
    this.#isKilled = true;
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }

  /** The output of the worker on standard error if it ended without being killed, which is a defect; undefined otherwise. */
  get complaint(): string | undefined {
    const hasEnded = this.#child.exitCode !== null || this.#child.signalCode !== null;
    return hasEnded && !this.#isKilled ? this.#complaint : undefined;
  }
}

const program = fileURLToPath(new URL("./worker-program.ts", import.meta.url));
