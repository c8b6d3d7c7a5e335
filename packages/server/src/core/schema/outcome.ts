import { pointerTo } from "../problem.ts";

/**
 * What a comparison found out about the values of one schema and another. Both are true when there is no value at all; both are
 * false when it cannot be told.
 */
export interface Outcome {
  /** Certain: every value fits. */
  readonly allFit: boolean;
  /** Certain: no value fits. */
  readonly noneFits: boolean;
  /** Why not all fit. */
  readonly misfits: readonly Misfit[];
}

/** `pointer` leads into the value. A certain misfit alone keeps every value from fitting. */
export interface Misfit {
  readonly pointer: string;
  /** What the value is, or may be, and what it must be: "null, but must be a string". */
  readonly finding: string;
  readonly isCertain: boolean;
}

export function describeMisfit({ finding, isCertain }: Misfit): string {
  return `${isCertain ? "is" : "may be"} ${finding}`;
}

export const fits: Outcome = { allFit: true, noneFits: false, misfits: [] };
/** There is no such value. */
export const isVoid: Outcome = { allFit: true, noneFits: true, misfits: [] };

export function neverFits(finding: string): Outcome {
  return { allFit: false, noneFits: true, misfits: [{ pointer: "", finding, isCertain: true }] };
}

export function mayNotFit(finding: string): Outcome {
  return { allFit: false, noneFits: false, misfits: [{ pointer: "", finding, isCertain: false }] };
}

/** The same value is held against several requirements, and must meet all. */
export function allOf(outcomes: readonly Outcome[]): Outcome {
  const open = outcomes.filter((outcome) => outcome !== fits);
  if (open.length < 2) return open[0] ?? fits;
  return outcomeOf(
    open.every(({ allFit }) => allFit),
    open.some(({ noneFits }) => noneFits),
    open,
  );
}

/** The same value is held against several alternatives, and must meet one. */
export function anyOf(outcomes: readonly Outcome[], misfits: readonly Misfit[]): Outcome {
  const allFit = outcomes.some((outcome) => outcome.allFit);
  const noneFits = outcomes.every((outcome) => outcome.noneFits);
  return outcomeOf(allFit, noneFits, [{ allFit, noneFits, misfits }]);
}

/** One value is held against several alternatives, and must meet exactly one. */
export function exactlyOneOf(outcomes: readonly Outcome[], misfits: readonly Misfit[]): Outcome {
  const allFit = outcomes.some(
    (outcome, index) => outcome.allFit && outcomes.every((other, otherIndex) => otherIndex === index || other.noneFits),
  );
  const noneFits = outcomes.every((outcome) => outcome.noneFits);
  const mayFitTwo = { pointer: "", finding: "more than one of the alternatives (`oneOf`)", isCertain: false };
  return outcomeOf(allFit, noneFits, [{ allFit, noneFits, misfits: noneFits ? misfits : [...misfits, mayFitTwo] }]);
}

/** Each outcome is about other values: those of one case. */
export function eachOf(cases: readonly Outcome[]): Outcome {
  if (cases.length === 1 && cases[0] !== undefined) return cases[0];
  return outcomeOf(
    cases.every(({ allFit }) => allFit),
    cases.every(({ noneFits }) => noneFits),
    cases,
  );
}

/** The outcome for a value that stands in another one, at `token`; `isThere` says whether the other one certainly has it. */
export function inside(token: string | number, outcome: Outcome, isThere: boolean): Outcome {
  if (outcome.allFit && (!outcome.noneFits || !isThere)) return fits;
  if (outcome.allFit) return isVoid;
  // The misfits of one outcome are few, different and in order already.
  const noneFits = outcome.noneFits && isThere;
  const place = pointerTo("", token);
  const misfits = outcome.misfits.map(({ pointer, finding, isCertain }) => ({
    pointer: place + pointer,
    finding,
    isCertain: isCertain && noneFits,
  }));
  return { allFit: false, noneFits, misfits };
}

/** An answer lists the first few misfits; nobody needs the thousandth. */
const maxMisfits = 10;

function outcomeOf(allFit: boolean, noneFits: boolean, parts: readonly Outcome[]): Outcome {
  if (allFit) return noneFits ? isVoid : fits;
  const all = parts.flatMap((part) => (part.allFit ? [] : part.misfits));
  // If no value fits, there is a certain misfit that says why; it must not be cut off.
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
