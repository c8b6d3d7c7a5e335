/** What the graph needs to know of a step. */
export interface GraphStep {
  readonly name: string;
  /** The executor, for example `/service/noop`; empty while it is not written yet. */
  readonly type: string;
  /** The next step's name; null when the job ends here; undefined when the definition has something else there. */
  readonly next: string | null | undefined;
  /** The step that a failure leads to. */
  readonly onFailure: string | undefined;
}

/** The steps of a definition's text, as far as it can be understood: it may be in the middle of being typed. Undefined when it is no JSON. */
export function stepsOfText(text: string): readonly GraphStep[] | undefined {
  try {
    return stepsOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** By their place in the definition, where a step that is being written may have no name yet. Undefined when the text is no JSON. */
export function stepNamesOfText(text: string): readonly (string | undefined)[] | undefined {
  try {
    const steps = fieldOf(JSON.parse(text), "steps");
    return Array.isArray(steps) ? steps.map((step) => textOf(fieldOf(step, "name"))) : [];
  } catch {
    return undefined;
  }
}

/** Of two steps with one name the first is drawn. */
export function stepsOf(definition: unknown): readonly GraphStep[] {
  const steps = fieldOf(definition, "steps");
  if (!Array.isArray(steps)) return [];
  const known = new Map<string, GraphStep>();
  for (const step of steps) {
    const name = fieldOf(step, "name");
    if (typeof name !== "string" || known.has(name)) continue;
    known.set(name, {
      name,
      type: textOf(fieldOf(fieldOf(step, "integrationDetails"), "type")) ?? "",
      next: nextOf(fieldOf(step, "transitionToStep")),
      onFailure: textOf(fieldOf(step, "onFailure")),
    });
  }
  return [...known.values()];
}

/** The way that a job went, for those who may see the job and not its definition. */
export function stepsOfWay(runs: readonly { readonly name: string; readonly type: string }[]): readonly GraphStep[] {
  const known = new Map<string, GraphStep>();
  for (const [index, { name, type }] of runs.entries()) {
    if (!known.has(name)) known.set(name, { name, type, next: runs[index + 1]?.name, onFailure: undefined });
  }
  return [...known.values()];
}

function fieldOf(value: unknown, field: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, field)) return undefined;
  return (value as Record<string, unknown>)[field];
}

function nextOf(transition: unknown): string | null | undefined {
  return transition === null || transition === undefined ? null : textOf(transition);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
