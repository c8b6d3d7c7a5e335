import { StepwellError } from "@stepwell/client";

/** The one place that writes to the terminal. */
export function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}

/** Shows an error to a person: what is wrong, and nothing of where in the code. */
export function explain(error: unknown): void {
  process.stderr.write(`stepwell: ${error instanceof Error ? error.message : String(error)}\n`);
  const isUnknown = error instanceof StepwellError && error.code === "AuthenticationError";
  if (isUnknown) process.stderr.write("Sign in with `stepwell login`, or set STEPWELL_TOKEN to a token that holds.\n");
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, undefined, 2));
}
