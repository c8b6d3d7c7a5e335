/** One attempt of a step, as a function or a worker received it. */
export interface HandedOut {
  readonly jobId: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** The name of the function or worker. */
  readonly holder: string;
}

/** The output of an attempt, as the service took it from a worker, or did not. */
export interface Answer extends HandedOut {
  readonly isTaken: boolean;
}

/**
 * The work of jobs as functions and workers saw it: the second source from which a campaign knows which work was done.
 */
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

  /** Counts a step of a lost worker that went to another one, under the same key. The histories know which workers were lost. */
  countHandedOn(): void {
    this.#handedOnCount += 1;
  }

  handedOutOf(jobId: string): readonly HandedOut[] {
    return this.#handedOut.get(jobId) ?? [];
  }

  answersOf(jobId: string): readonly Answer[] {
    return this.#answers.get(jobId) ?? [];
  }

  /** Counts for the result of a campaign, and for deciding whether the campaign proves anything. */
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
  /** Visits of steps that a function or worker was given. */
  readonly stepsDoneOutside: number;
  /** Visits that another worker was given after the first one was lost, under the same key. */
  readonly handedToAnother: number;
  readonly takenAnswers: number;
  /** Answers that came late, or again. */
  readonly refusedAnswers: number;
}

function add<Item extends HandedOut>(map: Map<string, Item[]>, item: Item): void {
  const known = map.get(item.jobId);
  if (known === undefined) map.set(item.jobId, [item]);
  else known.push(item);
}
