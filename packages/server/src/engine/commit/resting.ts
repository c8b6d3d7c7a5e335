/**
 * The commands of organizations that rest. All commands of an organization come back together and in the order in which they arrived. With a timer
 * for each command, a later command could come back before an earlier one of the same job, because timers round their times.
 */
export class Resting<One> {
  readonly #lists = new Map<string, One[]>();
  readonly #comeBack: (commands: readonly One[]) => void;

  constructor(comeBack: (commands: readonly One[]) => void) {
    this.#comeBack = comeBack;
  }

  has(organizationId: string): boolean {
    return this.#lists.has(organizationId);
  }

  /**
   * Adds a command that arrived after all other commands of the organization. `restMs` is used only if no other command of the organization rests
   * yet.
   */
  append(organizationId: string, command: One, restMs: number): void {
    this.#listOf(organizationId, restMs).push(command);
  }

  /** Adds commands that arrived before all resting commands of the organization. */
  prepend(organizationId: string, commands: readonly One[], restMs: number): void {
    this.#listOf(organizationId, restMs).unshift(...commands);
  }

  #listOf(organizationId: string, restMs: number): One[] {
    const known = this.#lists.get(organizationId);
    if (known !== undefined) return known;
    const list: One[] = [];
    this.#lists.set(organizationId, list);
    // The time is rounded up, so that the organization has rested when its commands come back.
    setTimeout(() => {
      this.#lists.delete(organizationId);
      this.#comeBack(list);
    }, Math.ceil(restMs)).unref();
    return list;
  }
}
