/** What a service answers instead of a result (RFC 9457). */
export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly requestId?: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

/** Thrown for every answer that is not a success, and when the service cannot be reached (`status` 0). */
export class StepwellError extends Error {
  readonly code: string;
  readonly status: number;
  readonly requestId: string | undefined;
  /** What is wrong in the input, with JSON pointers into it. */
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];

  constructor(problem: Problem, cause?: unknown) {
    const listed = (problem.errors ?? []).map(({ pointer, detail }) => `\n  ${pointer || "(whole)"}: ${detail}`);
    super(problem.detail + listed.join(""), cause === undefined ? {} : { cause });
    this.name = problem.code;
    this.code = problem.code;
    this.status = problem.status;
    this.requestId = problem.requestId;
    this.errors = problem.errors ?? [];
  }
}
