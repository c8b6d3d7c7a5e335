import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { own } from "./owned.ts";
import { residentMbOf } from "./resident-memory.ts";
import type { StoreHome } from "./store-home.ts";

export interface ServiceOptions {
  readonly home: StoreHome;
  readonly port: number;
  /** `dev` seeds an empty store, `serve` does not. */
  readonly command?: "dev" | "serve";
  /** A program for Node.js, with its arguments. `command` is added as the last one. Default: the built program `stepwell`. */
  readonly program?: readonly string[] | undefined;
  /** Settings besides those that every run has. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The file that `stepwell dev` writes into its data directory. */
export interface DevFile {
  readonly organizationId: string;
  readonly token: string;
  readonly password: string;
  readonly workflowId: string;
  readonly jobId: string;
}

/** The service as a process of its own. */
export class ServiceProcess {
  readonly pid: number;
  /** The log of all processes that ran on this store, one after the other. */
  readonly logFile: string;
  readonly #child: ChildProcess;
  readonly #options: ServiceOptions;
  readonly #ended: Promise<unknown>;

  constructor(options: ServiceOptions) {
    const { home, port, program = [entry], command = "dev", environment } = options;
    this.#options = options;
    this.logFile = join(home.dataDir, "service.log");
    const log = openSync(this.logFile, "a", 0o600);
    this.#child = spawn(process.execPath, [...program, command], {
      stdio: ["ignore", log, log],
      // The service leads a process group. A signal to the group also reaches the processes that the service has started.
      detached: true,
      env: {
        ...inheritedEnvironment(),
        STEPWELL_PORT: String(port),
        STEPWELL_METRICS_PORT: "0",
        STEPWELL_LOG_LEVEL: "warn",
        ...home.environment,
        ...environment,
      },
    });
    closeSync(log);
    if (this.#child.pid === undefined) throw new Error(`${process.execPath} could not be started.`);
    this.pid = this.#child.pid;
    const release = own(() => this.#signalGroup("SIGKILL"));
    this.#ended = once(this.#child, "exit").then(release);
  }

  /** Waits until the service says that it is ready. */
  async ready(timeoutMs = 60_000): Promise<void> {
    await this.#until(async () => (await this.healthStatus()) === 200, timeoutMs);
  }

  /** Waits until the service is ready and has created its owner, its organization and its samples. */
  async seeded(): Promise<DevFile> {
    await this.ready();
    await this.#until(async () => readDevFile(this.#options.home.dataDir) !== undefined, 60_000);
    const devFile = readDevFile(this.#options.home.dataDir);
    if (devFile === undefined) throw new Error("dev.json is gone.");
    return devFile;
  }

  /** The HTTP status of the answer of `/health/ready`; undefined if the service does not answer. */
  async healthStatus(): Promise<number | undefined> {
    try {
      const address = `http://127.0.0.1:${this.#options.port}/health/ready`;
      const answer = await fetch(address, { signal: AbortSignal.timeout(2_000), headers: { connection: "close" } });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return undefined;
    }
  }

  /** Sends SIGTERM, and waits until the service has ended. If this takes longer than 30 s, kills the service and throws an error. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const hasLeft = await Promise.race([this.#ended.then(() => true), sleep(30_000, false, { ref: false })]);
    if (hasLeft) return;
    await this.kill();
    throw new Error(`The service did not end within 30 s of SIGTERM.\n${this.logTail()}`);
  }

  /** Kills the service, and the processes that it has started, with SIGKILL: none of them can finish its work. */
  async kill(): Promise<void> {
    this.#signalGroup("SIGKILL");
    await this.#ended;
  }

  /** SIGSTOP makes a node hang, SIGCONT lets it continue. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#signalGroup(signal);
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** The current memory use in megabytes; null if the process has ended, or on systems that do not report it. */
  residentMb(): number | null {
    return residentMbOf(this.pid);
  }

  async #until(holds: () => Promise<boolean>, timeoutMs: number): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs;
    while (!(await holds())) {
      if (this.hasEnded) throw new Error(`The service ended before it was ready.\n${this.logTail()}`);
      if (performance.now() > deadlineMs) {
        throw new Error(`The service was not ready after ${timeoutMs / 1000} s.\n${this.logTail()}`);
      }
      await sleep(5);
    }
  }

  logTail(): string {
    return readFileSync(this.logFile, "utf8").slice(-4_000);
  }

  #signalGroup(signal: NodeJS.Signals): void {
    if (this.hasEnded) return;
    try {
      process.kill(-this.pid, signal);
    } catch (error) {
      // The process has just ended by itself.
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}

const entry = fileURLToPath(new URL("../../../cli/dist/main.js", import.meta.url));

/** The environment of this process, except the variables that would change what the service does. */
function inheritedEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(DATABASE_URL|STEPWELL_)/.test(name));
  return Object.fromEntries(kept);
}

/** Returns undefined until the service has written the whole file. */
function readDevFile(dataDir: string): DevFile | undefined {
  try {
    const content = JSON.parse(readFileSync(join(dataDir, "dev.json"), "utf8")) as Partial<DevFile>;
    const { organizationId, token, password, workflowId, jobId } = content;
    if (!organizationId || !token || !password || !workflowId || !jobId) return undefined;
    return { organizationId, token, password, workflowId, jobId };
  } catch {
    return undefined;
  }
}
