import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import type { Ended } from "@stepwell/testing/processes/shell.ts";

export const entry = resolve(import.meta.dirname, "../dist/main.js");

/** Runs the built command line as its users do, and returns when it has ended. */
export async function run(environment: Record<string, string>, ...words: string[]): Promise<Ended> {
  return await converse(environment, words).ended;
}

export interface Conversation {
  readonly ended: Promise<Ended>;
  /** Returns the standard output so far, once it contains `wanted`. The command continues. */
  said(wanted: string | RegExp): Promise<string>;
  /** Returns the standard error so far, once it contains `wanted`. */
  complained(wanted: RegExp): Promise<string>;
  /** Stops reading what the command prints, as `head` does. */
  stopReading(): void;
  end(signal: NodeJS.Signals): void;
}

/** Starts the command line, so that the test can do what the command asks for while it runs. */
export function converse(environment: Record<string, string>, words: readonly string[]): Conversation {
  const child = start(environment, ...words);
  let output = "";
  let complaint = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaint += text;
  });
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, output, complaint }));
  const over = ended.then(() => "over");
  const until = async (stream: NodeJS.ReadableStream | null, wanted: string | RegExp, text: () => string) => {
    while (!(typeof wanted === "string" ? text().includes(wanted) : wanted.test(text()))) {
      const next = await Promise.race([over, once(stream ?? child, "data")]);
      if (next === "over") throw new Error(`It ended without printing "${wanted}": ${output} ${complaint}`);
    }
    return text();
  };
  return {
    ended,
    said: (wanted) => until(child.stdout, wanted, () => output),
    complained: (wanted) => until(child.stderr, wanted, () => complaint),
    stopReading: () => child.stdout?.destroy(),
    end: (signal) => child.kill(signal),
  };
}

/** Ends all processes that a failed test left running. */
export function endAll(): void {
  for (const child of started) child.kill("SIGKILL");
  started.clear();
}

const started = new Set<ChildProcess>();

export function start(environment: Record<string, string>, ...words: string[]): ChildProcess {
  const child = spawn(process.execPath, [entry, ...words], {
    // Options of Node.js that are set for the tests also apply to the programs that they run.
    env: {
      PATH: process.env.PATH ?? "",
      NODE_OPTIONS: process.env.NODE_OPTIONS ?? "",
      // Without the cache, compiling the same modules again would use a fifth of the processor time of a short command.
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "",
      STEPWELL_METRICS_PORT: "0",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.add(child);
  child.once("exit", () => started.delete(child));
  return child;
}

/** Returns the standard output so far, once it contains `text`. Throws when the process ends before that. */
export async function printed(child: ChildProcess, text: string): Promise<string> {
  let output = "";
  const complaints = textOf(child.stderr);
  for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    output += String(chunk);
    if (!output.includes(text)) continue;
    // The program may print more: it would end if the pipe were closed, and hang if the pipe were full.
    child.stdout?.resume();
    return output;
  }
  throw new Error(`It ended without printing "${text}": ${output} ${await complaints}`);
}

export async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const ended = once(child, "exit");
  child.kill(signal);
  const [code] = (await ended) as [number | null];
  return code;
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = "";
  for await (const chunk of stream ?? []) text += String(chunk);
  return text;
}
