/** One attempt of a step, as a function or a worker received it. */
export interface HandedOut {
  readonly jobId: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** The name of the function or worker. */
  readonly holder: string;
}

/** A worker's answer to an attempt, and whether the service took it. */
export interface Answer extends HandedOut {
  readonly isTaken: boolean;
}

/** The work of jobs as functions and workers saw it. This is a second source, besides the histories, for what was done. */
export class OutsideLog {
  readonly #handedOut = new Map<string, HandedOut[]>();
  readonly #answers = new Map<string, Answer[]>();
  #handedOnCount = 0;

  handOut(given: HandedOut): void {
    add(this.#handedOut, given);
  }

  answer(given: Answer): void {
    add(this.#answers, given);
  }

  /**
   * Counts a step that was given to another worker, under the same key, after the first worker was lost. The caller knows from the histories which
   * workers were lost.
   */
  countHandedOn(): void {
    this.#handedOnCount += 1;
  }

  handedOutOf(jobId: string): readonly HandedOut[] {
    return this.#handedOut.get(jobId) ?? [];
  }

  answersOf(jobId: string): readonly Answer[] {
    return this.#answers.get(jobId) ?? [];
  }

  /** The counts are part of the result of a campaign. Some of them decide whether the campaign proves anything. */
  tally(): OutsideTally {
    const handedOut = [...this.#handedOut.values()].flat();
    const answers = [...this.#answers.values()].flat();
    return {
      stepsDoneOutside: new Set(handedOut.map(({ idempotencyKey }) => idempotencyKey)).size,
      handedToAnother: this.#handedOnCount,
      takenAnswers: answers.filter(({ isTaken }) => isTaken).length,
      refusedAnswers: answers.filter(({ isTaken }) => !isTaken).length,
    };
  }
}

export interface OutsideTally {
  /** The number of visits of steps that were given to a function or worker. */
  readonly stepsDoneOutside: number;
  /** The number of visits that were given to another worker, under the same key, after the first worker was lost. */
  readonly handedToAnother: number;
  readonly takenAnswers: number;
  /** Answers that came too late or repeatedly. */
  readonly refusedAnswers: number;
}

function add<Item extends HandedOut>(map: Map<string, Item[]>, item: Item): void {
  const known = map.get(item.jobId);
  if (known === undefined) map.set(item.jobId, [item]);
  else known.push(item);
}
