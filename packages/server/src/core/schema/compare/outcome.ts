import { pointerTo } from "../../problem.ts";

/**
 * The result of comparing the values of one schema with another. `allFit` and `noneFits` are both true when there is no value at all. They are both
 * false when only some values fit, and when the comparison cannot tell.
 */
export interface Outcome {
  /** Certain: every value fits. */
  readonly allFit: boolean;
  /** Certain: no value fits. */
  readonly noneFits: boolean;
  /** Why not all fit. */
  readonly misfits: readonly Misfit[];
}

/** A reason why values do not fit. `pointer` leads into the value. A single certain misfit means that no value fits. */
export interface Misfit {
  readonly pointer: string;
  /** What the value is or may be, and what is required, for example "null, but must be a string". */
  readonly finding: string;
  readonly isCertain: boolean;
}

export function describeMisfit({ finding, isCertain }: Misfit): string {
  return `${isCertain ? "is" : "may be"} ${finding}`;
}

export const fits: Outcome = { allFit: true, noneFits: false, misfits: [] };
/** The outcome for a set without values. */
export const isVoid: Outcome = { allFit: true, noneFits: true, misfits: [] };

export function neverFits(finding: string): Outcome {
  return { allFit: false, noneFits: true, misfits: [{ pointer: "", finding, isCertain: true }] };
}

export function mayNotFit(finding: string): Outcome {
  return { allFit: false, noneFits: false, misfits: [{ pointer: "", finding, isCertain: false }] };
}

/** The outcomes of comparisons that are given up, because they would take too long or never end. */
export const tooLarge = mayNotFit("a value that does not fit (the schemas are too large to be compared)");
export const tooDeep = mayNotFit("a value that does not fit (the schemas are nested too deeply to be compared)");
export const undecided = mayNotFit(
  "a value that does not fit (a schema refers to itself, so not all of its values can be compared)",
);

/** Combines the outcomes for several requirements. The same value must meet all of them. */
export function allOf(outcomes: readonly Outcome[]): Outcome {
  const open = outcomes.filter((outcome) => outcome !== fits);
  if (open.length < 2) return open[0] ?? fits;
  return outcomeOf(
    open.every(({ allFit }) => allFit),
    open.some(({ noneFits }) => noneFits),
    open,
  );
}

/** Combines the outcomes for several alternatives. The same value must meet at least one of them. */
export function anyOf(outcomes: readonly Outcome[], misfits: readonly Misfit[]): Outcome {
  const allFit = outcomes.some((outcome) => outcome.allFit);
  const noneFits = outcomes.every((outcome) => outcome.noneFits);
  return outcomeOf(allFit, noneFits, [{ allFit, noneFits, misfits }]);
}

/** Combines the outcomes for several alternatives. The same value must meet exactly one of them. */
export function exactlyOneOf(outcomes: readonly Outcome[], misfits: readonly Misfit[]): Outcome {
  const allFit = outcomes.some(
    (outcome, index) => outcome.allFit && outcomes.every((other, otherIndex) => otherIndex === index || other.noneFits),
  );
  const noneFits = outcomes.every((outcome) => outcome.noneFits);
  const mayFitTwo = { pointer: "", finding: "more than one of the alternatives (`oneOf`)", isCertain: false };
  return outcomeOf(allFit, noneFits, [{ allFit, noneFits, misfits: noneFits ? misfits : [...misfits, mayFitTwo] }]);
}

/** Combines the outcomes of separate cases. Each case is about different values. */
export function eachOf(cases: readonly Outcome[]): Outcome {
  if (cases.length === 1 && cases[0] !== undefined) return cases[0];
  return outcomeOf(
    cases.every(({ allFit }) => allFit),
    cases.every(({ noneFits }) => noneFits),
    cases,
  );
}

/**
 * Turns the outcome for an inner value, which is at `token`, into the outcome for the outer value. `isThere` says whether the outer value certainly
 * has the inner one.
 */
export function inside(token: string | number, outcome: Outcome, isThere: boolean): Outcome {
  if (outcome.allFit && (!outcome.noneFits || !isThere)) return fits;
  if (outcome.allFit) return isVoid;
  // The misfits of one outcome are few, different and in order already, so `outcomeOf` is not needed.
  const noneFits = outcome.noneFits && isThere;
  const place = pointerTo("", token);
  const misfits = outcome.misfits.map(({ pointer, finding, isCertain }) => ({
    pointer: place + pointer,
    finding,
    isCertain: isCertain && noneFits,
  }));
  return { allFit: false, noneFits, misfits };
}

/** An answer lists only the first few misfits, because nobody needs the thousandth. */
const maxMisfits = 10;

function outcomeOf(allFit: boolean, noneFits: boolean, parts: readonly Outcome[]): Outcome {
  if (allFit) return noneFits ? isVoid : fits;
  const all = parts.flatMap((part) => (part.allFit ? [] : part.misfits));
  // A certain misfit explains why no value fits. So certain misfits come first: `maxMisfits` cuts off the end of the list.
  const ordered = noneFits
    ? [...all.filter(({ isCertain }) => isCertain), ...all.filter(({ isCertain }) => !isCertain)]
    : all;
  const misfits = new Map<string, Misfit>();
  for (const misfit of ordered) {
    const key = `${misfit.pointer} ${misfit.finding}`;
    if (misfits.size < maxMisfits && !misfits.has(key))
      misfits.set(key, noneFits ? misfit : { ...misfit, isCertain: false });
  }
  return { allFit, noneFits, misfits: [...misfits.values()] };
}
