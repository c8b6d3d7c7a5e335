import { texts } from "../texts/texts.ts";

/** One problem in the data that was sent. */
export interface InputProblem {
  /** A JSON pointer into the data. */
  readonly pointer: string;
  readonly detail: string;
}

/**
 * A problem that a page can show. Thrown for every answer that is not a success, and when the service cannot be reached
 * (`status` 0). `changedMeanwhile` and `asProblem` make it in other cases.
 */
export class ProblemError extends Error {
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly errors: readonly InputProblem[];

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "ProblemError";
    this.title = problem.title;
    this.status = problem.status;
    this.code = problem.code;
    this.requestId = problem.requestId;
    this.errors = problem.errors ?? [];
  }
}

export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly requestId?: string | undefined;
  readonly errors?: readonly InputProblem[];
}

/** Returns the problem that an answer describes. If the answer describes none, which is usual for a proxy, makes one from the status. */
export function problemOf(error: unknown, response: Response): ProblemError {
  const requestId = response.headers.get("x-request-id") ?? undefined;
  if (isProblem(error)) {
    return error.code === changedCode ? changedMeanwhile(requestId) : new ProblemError({ requestId, ...error });
  }
  const { status } = response;
  return new ProblemError({
    title: texts.problem.unexpectedTitle,
    status,
    detail: texts.problem.unexpected(status),
    code: "UnhandledError",
    requestId,
  });
}

const changedCode = "PreconditionFailedError";

/**
 * Returns the problem of a change that was not made because the page showed an older state. The service's own words name ETags, which no page
 * shows.
 */
export function changedMeanwhile(requestId?: string): ProblemError {
  const { changedTitle, changed } = texts.problem;
  return new ProblemError({ title: changedTitle, status: 412, detail: changed, code: changedCode, requestId });
}

export function isChangedMeanwhile(error: unknown): boolean {
  return asProblem(error).code === changedCode;
}

export function unreachable(method = "GET"): ProblemError {
  const { problem } = texts;
  return new ProblemError({
    title: problem.unreachableTitle,
    status: 0,
    detail: method === "GET" ? problem.unreachable : problem.changeUnanswered,
    code: "Unreachable",
  });
}

/** Turns anything that was thrown into a problem to show. */
export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new ProblemError({ title: texts.problem.pageTitle, status: 0, detail, code: "PageError" });
}

/**
 * Divides a problem among the fields of a form. `at` returns the text for one field. `rest` is the whole problem, or undefined if fields show all of
 * it.
 */
export function fieldProblems(error: unknown, pointers: readonly string[]) {
  const problem = error === null || error === undefined ? undefined : asProblem(error);
  const at = (pointer: string): string | undefined => {
    const found = problem?.errors.filter((one) => isWithin(one.pointer, pointer)).map(({ detail }) => detail) ?? [];
    return found.length === 0 ? undefined : texts.problem.ofField(found);
  };
  const errors = problem?.errors ?? [];
  const areAllShown =
    errors.length > 0 && errors.every((one) => pointers.some((shown) => isWithin(one.pointer, shown)));
  return { at, rest: areAllShown ? undefined : problem };
}

function isWithin(pointer: string, outer: string): boolean {
  return pointer === outer || pointer.startsWith(`${outer}/`);
}

function isProblem(error: unknown): error is Problem {
  return typeof error === "object" && error !== null && "code" in error && "detail" in error;
}
