/**
 * The reason why an expression has no value: a value is not suitable (`value`), a number or a time is outside its range (`range`), or the budget is
 * used up (`budget`). The message may show parts of the expression, but never a value that was read or computed, because the value may be a secret.
 */
export class ExpressionFailure {
  readonly kind: "value" | "range" | "budget";
  readonly message: string;
  /** The offset in the expression's source, in UTF-16 units. */
  readonly offset: number | undefined;

  constructor(message: string, offset?: number, kind: ExpressionFailure["kind"] = "value") {
    this.message = message;
    this.offset = offset;
    this.kind = kind;
  }
}

/**
 * Ends an evaluation. The evaluator adds the place. The thrown object is not an `Error`: recording a stack for each failure that `||` ignores would
 * cost more than everything else.
 */
export function fail(message: string, kind: ExpressionFailure["kind"] = "value"): never {
  throw new ExpressionFailure(message, undefined, kind);
}
