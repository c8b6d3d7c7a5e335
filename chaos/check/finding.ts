/**
 * A defect that the check has found.
 * - lost: it was acknowledged, but does not exist.
 * - duplicated: it was requested once, or repeatedly under the same key, but exists more than once.
 * - violation: any other broken promise.
 */
export interface Finding {
  readonly kind: "lost" | "duplicated" | "violation";
  /** The id of the job, or the nonce, that the finding is about. */
  readonly subject: string;
  readonly detail: string;
}

export function violation(subject: string, detail: string): Finding {
  return { kind: "violation", subject, detail };
}
