import { type ChildProcess, execFile, spawn } from "node:child_process";
import { delimiter } from "node:path";

/** A shell in a directory, as a person who works there has it: without most variables of npm, Node.js, Vitest and Stepwell. */
export class Shell {
  readonly #directory: string;
  readonly #environment: Record<string, string>;

  constructor(directory: string, environment: Record<string, string> = {}) {
    this.#directory = directory;
    this.#environment = { ...ownEnvironment(), ...environment };
  }

  /** Returns a shell with these variables added. `PATH` is put before the existing one. */
  with({ PATH, ...environment }: Record<string, string>): Shell {
    const path = [PATH, this.#environment.PATH].filter((part) => part !== undefined).join(delimiter);
    return new Shell(this.#directory, { ...this.#environment, ...environment, PATH: path });
  }

  /** Runs a line and waits until it has ended. */
  async run(line: string): Promise<Ended> {
    return await new Promise((resolve) => {
      const options = { cwd: this.#directory, env: this.#environment, maxBuffer: 2 ** 26 };
      const child = execFile("sh", ["-c", line], options, (_error, output, complaint) =>
        resolve({ code: child.exitCode, output, complaint }),
      );
    });
  }

  /** Runs a line that must succeed, and returns what it printed. */
  async succeed(line: string): Promise<string> {
    const { code, output, complaint } = await this.run(line);
    if (code !== 0) throw new Error(`\`${line}\` ended with ${code}: ${output} ${complaint}`);
    return output;
  }

  /** Starts a program that keeps running. The program leads a process group, and `interrupt` signals the whole group, as a terminal does. */
  start(program: string, ...words: string[]): Running {
    const child = spawn(program, words, {
      cwd: this.#directory,
      env: this.#environment,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const running = new Running(child);
    started.add(running);
    return running;
  }
}

export class Running {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #output = "";

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      this.#output += chunk;
    });
    let complaint = "";
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      complaint += chunk;
    });
    this.ended = new Promise((resolve) =>
      child.once("close", (code) => resolve({ code, output: this.#output, complaint })),
    );
  }

  /** Waits until the standard output contains `wanted`, and returns the whole output so far. Throws if the program ends before that. */
  async printed(wanted: string): Promise<string> {
    const over = this.ended.then(({ output, complaint }) => {
      throw new Error(`The program ended without printing "${wanted}": ${output} ${complaint}`);
    });
    over.catch(() => undefined);
    while (!this.#output.includes(wanted)) {
      await Promise.race([over, new Promise((resolve) => this.#child.stdout?.once("data", resolve))]);
    }
    return this.#output;
  }

  /** Sends SIGTERM only to this process, as a process manager does. */
  async terminate(): Promise<Ended> {
    this.#child.kill("SIGTERM");
    return await this.ended;
  }

  /** Sends the signal to the whole group, as Ctrl-C in a terminal does. */
  async interrupt(signal: NodeJS.Signals = "SIGINT"): Promise<Ended> {
    const { pid, exitCode } = this.#child;
    if (pid !== undefined && exitCode === null) process.kill(-pid, signal);
    return await this.ended;
  }
}

const started = new Set<Running>();

/** Ends all processes that a failed test left running. */
export async function endShells(): Promise<void> {
  await Promise.all([...started].map((running) => running.interrupt("SIGKILL").catch(() => undefined)));
  started.clear();
}

function ownEnvironment(): Record<string, string> {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|node|vite|test|stepwell_|database_url)/i.test(name),
  );
  const { NODE_EXTRA_CA_CERTS: certificates, NODE_COMPILE_CACHE: compiled, PATH = "" } = process.env;
  return {
    ...Object.fromEntries(own.map(([name, value]) => [name, value ?? ""])),
    ...(certificates !== undefined && { NODE_EXTRA_CA_CERTS: certificates }),
    ...(compiled !== undefined && { NODE_COMPILE_CACHE: compiled }),
    PATH: PATH.split(delimiter)
      .filter((directory) => !directory.includes("node_modules") && !directory.includes("node-gyp-bin"))
      .join(delimiter),
    npm_config_prefer_offline: "true",
  };
}

export interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly complaint: string;
}
