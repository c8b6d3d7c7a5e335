import { untilOver } from "./job-telling.ts";

/**
 * The reports that a duty makes to jobs after it has taken their calls over. Each report is a command of the job's organization, and may wait for a
 * long time in the queue of commits. The duty waits for its reports for a second at most. It takes over no more calls of an organization until all
 * reports to jobs of that organization are committed.
 */
export class Reports<Call extends { readonly organizationId: string }> {
  /** The number of reports under way, by organization. */
  readonly #underWay = new Map<string, number>();
  readonly #failures: unknown[] = [];

  /** The organizations with reports under way. Their calls must not be taken over, because the same calls would be reported again. */
  busy(): string[] {
    return [...this.#underWay.keys()];
  }

  isBusy({ organizationId }: { readonly organizationId: string }): boolean {
    return this.#underWay.has(organizationId);
  }

  /**
   * Reports each call. Returns when all of these reports are committed, but after a second at the latest. Throws the error of a report, which may be
   * one of an earlier round.
   */
  async send(calls: readonly Call[], report: (call: Call) => Promise<unknown>): Promise<void> {
    await untilOver(Promise.all(calls.map((call) => this.#sendOne(call, report))), performance.now() + maxWaitMs);
    const [failure] = this.#failures.splice(0);
    if (failure !== undefined) throw failure;
  }

  async #sendOne(call: Call, report: (call: Call) => Promise<unknown>): Promise<void> {
    this.#count(call, 1);
    try {
      await report(call);
    } catch (error) {
      this.#failures.push(error);
    } finally {
      this.#count(call, -1);
    }
  }

  #count({ organizationId }: Call, change: 1 | -1): void {
    const count = (this.#underWay.get(organizationId) ?? 0) + change;
    if (count > 0) this.#underWay.set(organizationId, count);
    else this.#underWay.delete(organizationId);
  }
}

const maxWaitMs = 1_000;
