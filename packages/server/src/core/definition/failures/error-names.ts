import { describeValue, type RawObject } from "../../json/raw-object.ts";
import { pointerTo, quoted } from "../../problem.ts";
import { isLongerThan } from "../definition-name.ts";

/**
 * An error as definitions name it: by its code or by its type. The code is one of the service's codes. The type is a name that the called side gave
 * the error, or a name that the service gave it, such as `HttpStatus404`.
 */
export interface NamedError {
  readonly code: string;
  readonly type?: string;
}

/** Whether one of these names is the error's code or its type. Without a list of names, every error counts as named. */
export function isNamed(names: readonly string[] | undefined, { code, type }: NamedError): boolean {
  return names === undefined || names.includes(code) || (type !== undefined && names.includes(type));
}

export interface ErrorNameSurroundings {
  readonly limits: { readonly maxNameLength: number };
  /** Whether the version is registered. The names in a registered version are not checked again, because a later release may refuse more codes. */
  readonly isRegistered: boolean;
}

/**
 * Reads `on`, a list of names of errors without repetitions; undefined when it is missing or is not a list of texts. `useless` has the codes that
 * have no effect here, each with the reason.
 */
export function readErrorNames(
  raw: RawObject,
  useless: ReadonlyMap<string, string>,
  { limits, isRegistered }: ErrorNameSurroundings,
): readonly string[] | undefined {
  const names = raw.fields.on;
  if (names === undefined) return undefined;
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string")) {
    const found = Array.isArray(names) ? "contains something that is not a text" : `is ${describeValue(names)}`;
    raw.refuse("on", `must be a list of error codes or types, but ${found}; ${leaveOut}`);
    return undefined;
  }
  if (isRegistered) return names;
  if (names.length === 0) raw.refuse("on", `names no error; ${leaveOut}`);
  if (names.length > maxErrorNames) raw.refuse("on", `has ${names.length} names; a list may have ${maxErrorNames}`);
  else for (const [index, name] of names.entries()) refuseName(raw, names, index, name, useless, limits.maxNameLength);
  return names;
}

/** A person cannot handle more kinds of errors separately. */
const maxErrorNames = 100;
const leaveOut = "leave `on` out to mean every error";

function refuseName(
  raw: RawObject,
  names: readonly string[],
  index: number,
  name: string,
  useless: ReadonlyMap<string, string>,
  maxLength: number,
): void {
  const detail =
    name === "" || isLongerThan(name, maxLength)
      ? `must be a name of 1 to ${maxLength} characters`
      : names.indexOf(name) < index
        ? `repeats ${quoted(name)}; name each error once`
        : (foreignName(name) ?? useless.get(name));
  if (detail !== undefined) raw.refuseAt(pointerTo(raw.pointerTo("on"), index), detail);
}

/** Amazon States Language has its own names of errors. No error has such a name here. */
function foreignName(name: string): string | undefined {
  if (name === "*" || name === "States.ALL" || name === "States.TaskFailed") {
    return `no error here has the name ${quoted(name)}; ${leaveOut}`;
  }
  if (name === "States.Timeout") return `${quoted(name)} is called ${quoted("Timeout")} here`;
  return name.startsWith("States.") ? `no error here has the name ${quoted(name)}` : undefined;
}
