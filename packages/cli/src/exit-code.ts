import { StepwellError } from "@stepwell/client";
import { CommanderError } from "commander";

/** The exit codes that scripts may rely on; docs/cli.md lists them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  notAllowed: 4,
  unreachable: 5,
  /** 128 plus the number of SIGPIPE. */
  readerGone: 141,
} as const;

/** An error that carries its exit code. For all other errors, `exitCodeOf` finds the exit code. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(kind: keyof typeof exitCodes, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCodes[kind];
  }
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  if (error instanceof StepwellError) return exitCodeOfStatus(error.status);
  // Commands that work on the store itself get their errors from the service's code in this process.
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ValidationError") return exitCodes.usage;
  return code === "NotFoundError" ? exitCodes.notFound : exitCodes.failed;
}

function exitCodeOfStatus(status: number): number {
  switch (status) {
    // These statuses mean wrong usage, because the service checks most values of a command line: whether they are valid (400), whether a path of
    // `stepwell api` takes the method (405), and whether they are too large (413, 414, 431).
    case 400:
    case 405:
    case 413:
    case 414:
    case 431:
      return exitCodes.usage;
    case 401:
    case 403:
      return exitCodes.notAllowed;
    case 404:
      return exitCodes.notFound;
    // The client sets the status 0 in an error when there was no answer at all.
    case 0:
    case 502:
    case 503:
    case 504:
      return exitCodes.unreachable;
    default:
      return exitCodes.failed;
  }
}
