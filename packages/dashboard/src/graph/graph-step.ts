/** A step, with what the graph needs to know of it. */
export interface GraphStep {
  readonly name: string;
  /** The executor, for example `/service/noop`; empty while it has not been typed yet. */
  readonly type: string;
  /**
   * The transitions that the job can take when the step succeeds, in the order in which they are tried. The list is empty when the
   * definition has no valid transition there.
   */
  readonly next: readonly NextWay[];
  /** The transitions that the job can take when the step fails, in the order in which they are tried. */
  readonly onFailure: readonly FailureWay[];
  /** The branches of a parallel step, or the body of a forEach step. Other steps have none. */
  readonly branches?: readonly GraphBranch[];
}

export interface GraphBranch {
  /** The branch's own name; undefined for the body of a forEach step, which runs once for each item. */
  readonly name: string | undefined;
  /** The step with which the branch begins. */
  readonly step: string;
}

export interface NextWay {
  /** The step to which the transition leads; null if the transition ends the job, or the branch in which it begins. */
  readonly step: string | null;
  /** In a choice: the condition under which the transition is taken, "…" if the text has none yet, or "else". Undefined without a choice. */
  readonly condition?: string;
}

export interface FailureWay {
  readonly step: string;
  /** The errors for which the transition is taken. An empty list stands for all errors. */
  readonly on: readonly string[];
}

/**
 * Returns the steps in a definition's text, as far as it can be understood: the user may be in the middle of typing it. Undefined when the text is
 * not JSON.
 */
export function stepsOfText(text: string): readonly GraphStep[] | undefined {
  try {
    return stepsOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * Returns the name of each step, in the order of the definition. A step that is being written may have no name yet. Undefined when the text is not
 * JSON.
 */
export function stepNamesOfText(text: string): readonly (string | undefined)[] | undefined {
  try {
    const steps = fieldOf(JSON.parse(text), "steps");
    return Array.isArray(steps) ? steps.map((step) => textOf(fieldOf(step, "name"))) : [];
  } catch {
    return undefined;
  }
}

/** Returns the description in a definition's text; undefined if it has none, or is not JSON. */
export function descriptionOfText(text: string): string | undefined {
  try {
    return textOf(fieldOf(JSON.parse(text), "description"));
  } catch {
    return undefined;
  }
}

/** Returns the steps of a definition that have a name. If two steps have the same name, only the first one is returned. */
export function stepsOf(definition: unknown): readonly GraphStep[] {
  const steps = fieldOf(definition, "steps");
  if (!Array.isArray(steps)) return [];
  const known = new Map<string, GraphStep>();
  for (const step of steps) {
    const name = fieldOf(step, "name");
    if (typeof name !== "string" || known.has(name)) continue;
    const details = fieldOf(step, "integrationDetails");
    const type = textOf(fieldOf(details, "type")) ?? "";
    const branches = branchesOf(type, fieldOf(details, "config"));
    known.set(name, {
      name,
      type,
      next: nextOf(fieldOf(step, "transitionToStep")),
      onFailure: failureWaysOf(fieldOf(step, "onFailure")),
      ...(branches.length > 0 && { branches }),
    });
  }
  return [...known.values()];
}

function fieldOf(value: unknown, field: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, field)) return undefined;
  return (value as Record<string, unknown>)[field];
}

/** The type of the steps that run a body once for each item of a list. */
export const forEachType = "/service/forEach";
/** The type of the steps that run branches with names. */
export const parallelType = "/service/parallel";

function branchesOf(type: string, config: unknown): readonly GraphBranch[] {
  if (type === forEachType) {
    const step = textOf(fieldOf(config, "step"));
    return step === undefined ? [] : [{ name: undefined, step }];
  }
  const branches = type === parallelType ? fieldOf(config, "branches") : undefined;
  if (typeof branches !== "object" || branches === null) return [];
  return Object.entries(branches).flatMap(([name, step]) => (typeof step === "string" ? [{ name, step }] : []));
}

function nextOf(transition: unknown): readonly NextWay[] {
  if (transition === null || transition === undefined) return [{ step: null }];
  if (typeof transition === "string") return [{ step: transition }];
  const options = fieldOf(transition, "choose");
  const chosen = Array.isArray(options)
    ? options.flatMap((option) => wayOf(option, "then", textOf(fieldOf(option, "if"))))
    : [];
  return [...chosen, ...wayOf(transition, "else", "else")];
}

/** Returns a list with the transition of one part of a choice. The list is empty until the user has typed where the transition leads. */
function wayOf(choice: unknown, field: string, condition: string | undefined): readonly NextWay[] {
  const step = fieldOf(choice, field);
  return step === null || typeof step === "string" ? [{ step, condition: condition ?? "…" }] : [];
}

function failureWaysOf(onFailure: unknown): readonly FailureWay[] {
  if (typeof onFailure === "string") return [{ step: onFailure, on: [] }];
  if (!Array.isArray(onFailure)) return [];
  return onFailure.flatMap((entry) => {
    const step = textOf(fieldOf(entry, "then"));
    const on = fieldOf(entry, "on");
    return step === undefined
      ? []
      : { step, on: Array.isArray(on) ? on.filter((name) => typeof name === "string") : [] };
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
