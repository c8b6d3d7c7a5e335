/** The one place that writes to the terminal. */
export function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}

/** Shows an error to a person: what is wrong, and nothing of where in the code. */
export function explain(error: unknown): void {
  process.stderr.write(`stepwell: ${error instanceof Error ? error.message : String(error)}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, undefined, 2));
}
