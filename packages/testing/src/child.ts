import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** A process that a test starts and may kill. Its script reports when it is ready. */
export class Child<Ready> {
  readonly ready: Ready;
  readonly #process: ChildProcess;
  readonly #exit: Promise<unknown>;
  #output = "";

  private constructor(child: ChildProcess, exit: Promise<unknown>, ready: Ready) {
    this.#process = child;
    child.stdout?.on("data", (chunk: Buffer) => {
      this.#output += chunk.toString("utf8");
    });
    this.#exit = exit;
    this.ready = ready;
  }

  /** If the script ends before it is ready, throws an error with what it wrote to standard error. */
  static async start<Ready>(
    script: string,
    args: readonly string[],
    environment: Record<string, string> = {},
  ): Promise<Child<Ready>> {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const child = fork(script, args, {
      env: { PATH, NODE_COMPILE_CACHE, ...environment },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    let complaint = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      complaint += chunk.toString("utf8");
    });
    const exit = once(child, "close");
    const died = exit.then(() => Promise.reject(new Error(`${script} ended before it was ready: ${complaint}`)));
    const [ready] = await Promise.race([once(child, "message"), died]);
    return new Child(child, exit, ready as Ready);
  }

  /** Sends a message and returns the next one that comes back. Rejects if the process ends before that. */
  async ask<Answer>(message: object | string): Promise<Answer> {
    const answered = once(this.#process, "message");
    const died = this.#exit.then(() => Promise.reject(new Error("The process has ended.")));
    this.#process.send(message);
    const [answer] = await Promise.race([answered, died]);
    return answer as Answer;
  }

  get pid(): number {
    if (this.#process.pid === undefined) throw new Error("The process did not start.");
    return this.#process.pid;
  }

  /** The text that the process wrote to its standard output, which is its log. */
  get output(): string {
    return this.#output;
  }

  pause(): void {
    this.#process.kill("SIGSTOP");
  }

  goOn(): void {
    this.#process.kill("SIGCONT");
  }

  /** Does nothing if the process has ended before. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#exit;
  }

  /** Waits until the process ends by itself, and returns its exit code. */
  async ended(): Promise<number | null> {
    await this.#exit;
    return this.#process.exitCode;
  }
}
