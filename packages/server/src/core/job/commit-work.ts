import { Budget } from "../expression/expression.ts";
import type { JsonValue } from "../json/json.ts";
import { sizeOfJson } from "../json/json-size.ts";
import type { Carried } from "./job-state.ts";

/**
 * The number of steps after which a change of a job ends, so that other jobs get their turn. A chain of thousands of no-ops, for example, continues
 * in the next commit.
 */
const maxStepsPerCommit = 200;

/**
 * A change of a job ends once it has written values of this size into the history. The size counts characters and members, and is about the default
 * maximum of an input and of an output together. Without this bound, a chain of steps over an input of 1 MiB would write hundreds of megabytes in one
 * commit, which takes too long on any store.
 */
const maxStoredSize = 2_000_000;

/**
 * The work of expressions, in units, after which a change of a job ends, so that other jobs get their turn. This work takes about 10 ms. A single
 * step may take several times as much.
 */
const maxExpressionWork = 250_000;

const workPerSlot = 10;

/** The bytes that are measured in one unit of work. Each byte takes the same time, even in an escaped character, which may have six bytes. */
const measuredBytesPerUnit = 16;

/** The work that one change of a job does. After a certain amount of work the change ends, and the job continues in the next commit. */
export class CommitWork {
  #enteredCount = 0;
  #storedSize = 0;
  readonly #budgets: Budget[] = [];
  #measuredWork = 0;

  /** Whether the change has done enough work for one commit. */
  get isEnough(): boolean {
    return (
      this.#enteredCount >= maxStepsPerCommit ||
      this.#storedSize > maxStoredSize ||
      this.#budgets.reduce((sum, { work }) => sum + work, this.#measuredWork) > maxExpressionWork
    );
  }

  enterStep(): void {
    this.#enteredCount += 1;
  }

  /**
   * Makes a budget for one template or one choice. Searching the values that the branch remembers takes time, so some of the budget is already spent.
   */
  newBudget({ slots = {} }: Carried): Budget {
    const budget = new Budget();
    budget.spend(Math.min(Object.keys(slots).length * workPerSlot, maxExpressionWork));
    this.#budgets.push(budget);
    return budget;
  }

  /**
   * Counts the work of measuring a template's value, which the template's budget does not count. A value that is too large and is not written counts
   * too.
   */
  measure(bytes: number): void {
    this.#measuredWork += Math.ceil(bytes / measuredBytesPerUnit);
  }

  /** Counts a value that the change writes into the history. */
  store(value: JsonValue): void {
    this.#storedSize += sizeOfJson(value, maxStoredSize);
  }
}
