import { copyFileSync, createWriteStream, mkdtempSync, rmSync, type WriteStream } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Operation } from "./operation.ts";

/** Keeps every operation in memory for the checker, and as lines of JSON in a file for the people who search for a defect. */
export class Recorder {
  readonly directory = mkdtempSync(join(tmpdir(), "stepwell-chaos-history-"));
  readonly operations: Operation[] = [];
  readonly #file: WriteStream = createWriteStream(join(this.directory, "operations.jsonl"));
  #keptLogCount = 0;

  record(operation: Operation): void {
    this.operations.push(operation);
    this.#file.write(`${JSON.stringify(operation)}\n`);
  }

  /** Copies a log into the directory that holds the history. */
  keep(logFile: string): void {
    this.#keptLogCount += 1;
    copyFileSync(logFile, join(this.directory, `service-${this.#keptLogCount}.log`));
  }

  /** Ends the recording and deletes it unless it is to be kept. A run without findings leaves no files. */
  async close(isKept: boolean): Promise<void> {
    await new Promise((resolve) => this.#file.end(resolve));
    if (!isKept) rmSync(this.directory, { recursive: true });
  }
}
