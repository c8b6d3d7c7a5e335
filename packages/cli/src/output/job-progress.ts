import type { Job, StepwellClient } from "@stepwell/client";
import { describeStatus, hasEnded } from "./job-text.ts";
import { cut, inOneLine } from "./table.ts";
import { hasLiveTerminal } from "./terminal.ts";

interface Place {
  readonly client: StepwellClient;
  readonly organizationId: string;
}

/** Waits until the job has ended, until it waits for events, or until the time is up. On a terminal, a line that changes shows the progress. */
export async function waitFor({ client, organizationId }: Place, jobId: string, seconds: number): Promise<Job> {
  const deadline = performance.now() + seconds * 1_000;
  const line = new ProgressLine();
  let job = await client.getJob(organizationId, jobId);
  try {
    while (!hasEnded(job) && !waitsForEvents(job)) {
      const left = Math.ceil((deadline - performance.now()) / 1_000);
      if (left <= 0) break;
      line.show(`${describeStatus(job)} …`);
      job = await client.getJob(organizationId, jobId, Math.min(left, sliceSeconds));
    }
    return job;
  } finally {
    line.clear();
  }
}

/** GetJob answers when the job has ended, but not when it waits for events. To notice that a job waits, the command asks again this often. */
const sliceSeconds = 1;

function waitsForEvents({ currentStep }: Job): boolean {
  return (currentStep?.awaiting?.missingEventIds.length ?? 0) > 0;
}

/** A line that is overwritten again and again. It is shown only on a terminal. */
class ProgressLine {
  readonly #isLive = hasLiveTerminal();
  #isShown = false;

  show(text: string): void {
    if (!this.#isLive) return;
    process.stderr.write(`\r${eraseLine}${cut(inOneLine(text), (process.stderr.columns || 80) - 1)}`);
    this.#isShown = true;
  }

  clear(): void {
    if (this.#isShown) process.stderr.write(`\r${eraseLine}`);
    this.#isShown = false;
  }
}

const eraseLine = "\u001b[K";
