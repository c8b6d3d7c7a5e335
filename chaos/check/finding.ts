/**
 * A defect that the check has found.
 * - lost: something was acknowledged, but does not exist.
 * - duplicated: something was requested once, or repeatedly under the same key, but exists more than once.
 * - violation: any other broken promise.
 */
export interface Finding {
  readonly kind: "lost" | "duplicated" | "violation";
  /** The subject of the finding: the id of a job, a nonce, the type of a request, "the service" or "a worker". */
  readonly subject: string;
  readonly detail: string;
}

export function violation(subject: string, detail: string): Finding {
  return { kind: "violation", subject, detail };
}
