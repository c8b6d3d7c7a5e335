import type { Resolvable } from "../definition/config-template.ts";
import type { Choice } from "../definition/transition.ts";
import { type Budget, evaluate, renderTemplate, type Scope, type Template } from "../expression/expression.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import type { JobDraft } from "./draft.ts";
import { configScope } from "./job-scope.ts";
import type { StepError } from "./job-state.ts";

/** The step that contains an expression, and the part of the step. The message names them when the expression fails. */
export interface Place {
  readonly step: string;
  readonly what: string;
}

/**
 * Returns the value of a template, or the reason why it has none. A budget bounds the work, and the value may not be larger than an output may be.
 */
export function render(
  draft: JobDraft,
  template: Template,
  scope: Scope,
  { step, what }: Place,
): { readonly value: JsonValue } | { readonly error: StepError } {
  const budget = draft.work.newBudget(draft.carried);
  const outcome = renderTemplate(template, scope, budget);
  if ("failure" in outcome) {
    const { pointer, message } = outcome.failure;
    const where = pointer === "" ? what : `${what} at ${pointer}`;
    return { error: { code: "ExpressionFailed", message: `In ${where} of ${step}, ${message}.` } };
  }
  const { maxOutputBytes } = draft.limits;
  // Each character and each member takes at least one byte. So a value that is much too large is never converted to text.
  const text = budget.size > maxOutputBytes ? undefined : JSON.stringify(outcome.value);
  const bytes = text === undefined ? budget.size : Buffer.byteLength(text);
  draft.work.measure(bytes);
  if (text === undefined || bytes > maxOutputBytes) {
    const message = `The value of ${what} of ${step} has more than ${maxOutputBytes} bytes, which is the maximum of a step's values. Make it smaller.`;
    return { error: { code: "OutputTooLarge", message } };
  }
  const key = specialKeys.test(text) ? specialKeyIn(outcome.value, undefined) : undefined;
  if (key === undefined) return outcome;
  const message = `The value of ${what} of ${step} has the key \`${key}\`, which no value may have there. Use another name.`;
  return { error: { code: "ExpressionFailed", message } };
}

/**
 * Whether a step failed while its `input` or `config` was evaluated, so that the step's own work never began. The error's code does not tell this,
 * but its message does: the message is stored as `render` or `resolve` wrote it.
 */
export function isBeforeWork({ code, message }: StepError): boolean {
  return (
    (code === "ExpressionFailed" || code === "OutputTooLarge") && /^(In|The value of) `(input|config)` /.test(message)
  );
}

const specialKeys = /"(?:__proto__|prototype)":/;

/** Finds a key that no value may have. Values from outside are checked for the same keys in `json/json-problem.ts`. */
function specialKeyIn(value: JsonValue, holder: string | undefined): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, part] of Object.entries(value)) {
    if (key === "__proto__" || (key === "prototype" && holder === "constructor")) return key;
    const found = specialKeyIn(part, Array.isArray(value) ? undefined : key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Evaluates the expressions of a step's config and reads the resulting config, which may have problems. */
function resolve<Value extends object>(
  draft: JobDraft,
  { template, resolve: read }: Resolvable<Value>,
  scope: Scope,
  step: string,
): { readonly value: Value } | { readonly error: StepError } {
  const rendered = render(draft, template, scope, { step, what: "`config`" });
  if ("error" in rendered) return rendered;
  const value = read(rendered.value as JsonObject);
  if (!("problems" in value)) return { value };
  const listed = value.problems.map(({ pointer, detail }) => `${pointer} ${detail}`.trim());
  return { error: { code: "ExpressionFailed", message: `In \`config\` of ${step}, ${listed.join("; ")}.` } };
}

/** The value of a part of a step's config that may have expressions. It is the same for every attempt of a visit. */
export function configValue<Value extends object>(
  draft: JobDraft,
  value: Value | Resolvable<Value>,
  step: string,
  input: JsonValue,
): { readonly value: Value } | { readonly error: StepError } {
  return "template" in value ? resolve(draft, value, configScope(draft, step, input), step) : { value };
}

/** Returns the target of the first condition that is true, or `otherwise` when none is true. All conditions share one budget. */
export function choose(
  { options, otherwise }: Choice,
  scope: Scope,
  budget: Budget,
  step: string,
): { readonly target: string | null } | { readonly error: StepError } {
  for (const { condition, then } of options) {
    const outcome = evaluate(condition, scope, budget);
    if ("failure" in outcome) return failed(step, outcome.failure.message);
    if (outcome.value === true) return { target: then };
    if (outcome.value !== false) return failed(step, `the condition \`${condition.source}\` is neither true nor false`);
  }
  return { target: otherwise };
}

function failed(step: string, message: string): { readonly error: StepError } {
  return { error: { code: "ExpressionFailed", message: `In \`transitionToStep\` of ${step}, ${message}.` } };
}
