import { once } from "node:events";
import { StepwellError } from "@stepwell/client";
import { exitCodes } from "../exit-code.ts";
import { withoutControls } from "./table.ts";

/** The result of a command, in the three forms in which it can be printed. */
export interface Result {
  /** The form for `--json`. */
  readonly value: unknown;
  /** The form for people. */
  readonly text: string;
  /** The form for `--quiet`: a value for the next command of a script, such as an id. If it is left out, nothing is printed. */
  readonly quiet?: string | readonly string[];
}

export interface OutputOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

let form: "text" | "json" | "quiet" = "text";

/** Chooses the form of everything that the command prints. Called once, before the command runs. */
export function chooseOutput({ json, quiet }: OutputOptions): void {
  form = json === true ? "json" : quiet === true ? "quiet" : "text";
}

export function show({ value, text, quiet = [] }: Result): void {
  if (form === "json") printJson(value);
  else if (form === "text") print(text);
  else for (const line of [quiet].flat()) print(line);
}

/** Prints a value with `--json`, and nothing in the other forms. In every form, the command then reports an error. */
export function showValue(value: unknown): void {
  if (form === "json") printJson(value);
}

/** Prints one of the results of a command that prints them as they arrive: with `--json`, each is one line. */
export function showNext({ value, text, quiet = [] }: Result): void {
  if (form === "json") print(JSON.stringify(value));
  else show({ value, text, quiet });
}

/**
 * Ends the command without a message when the reader of its output closes the pipe, as in `stepwell job list | head -1`. The exit code is the one
 * that a shell gives to programs that end in this way. Any other reason why standard output cannot be written, such as a full disk, is an error.
 */
export function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCodes.readerGone);
    explain(new Error(`The output cannot be written: ${error.message}`));
    process.exit(exitCodes.failed);
  });
  process.stderr.on("error", () => process.exit(exitCodes.readerGone));
}

/** Prints a line. Only this function and `write` write to standard output. */
export function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}

/** Passes on a part of a long text unchanged. If the reader of the output is slower than the command, waits for the reader. */
export async function write(part: Uint8Array): Promise<void> {
  if (!process.stdout.write(part)) await once(process.stdout, "drain");
}

/** Tells people something besides the result, except with `--quiet`. It is printed to standard error, so that a pipe carries only the result. */
export function warn(line: string): void {
  if (form !== "quiet") process.stderr.write(`${withoutControls(line)}\n`);
}

/** Tells a person what to do before the command continues. The line is printed in every form of output. */
export function ask(line: string): void {
  if (form === "text") print(line);
  else process.stderr.write(`${line}\n`);
}

/** Tells whether a progress line, which changes while somebody waits, can be shown. */
export function hasLiveTerminal(): boolean {
  return form === "text" && process.stderr.isTTY === true;
}

/** Shows an error to the user: its message without the stack. */
export function explain(error: unknown): void {
  process.stderr.write(`stepwell: ${withoutControls(error instanceof Error ? error.message : String(error))}\n`);
  const isUnknown = error instanceof StepwellError && error.code === "AuthenticationError";
  if (isUnknown) process.stderr.write("Sign in with `stepwell login`, or set STEPWELL_TOKEN to a valid token.\n");
}

function printJson(value: unknown): void {
  print(JSON.stringify(value, undefined, 2));
}
