/**
 * A defect that the check has found.
 * - lost: acknowledged, and not there.
 * - duplicated: asked for once (or again under the same key), and there more than once.
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
