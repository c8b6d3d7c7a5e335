import { isJsonObject, type JsonValue } from "../../json/json.ts";
import { describeValue, RawObject } from "../../json/raw-object.ts";
import { type ProblemList, pointerTo, quoted } from "../../problem.ts";
import { type ErrorNameSurroundings, isNamed, type NamedError, readErrorNames } from "./error-names.ts";

/** A step that takes over after a failure, and the errors that it handles. */
export interface FailureHandler {
  /** The codes or types of the errors. When the list is left out, every error is handled. */
  readonly on?: readonly string[];
  readonly step: string;
}

/** Returns the step that takes over after this error: the step of the first handler that matches it. Undefined when no handler matches. */
export function handlerOf(handlers: readonly FailureHandler[], error: NamedError): string | undefined {
  return handlers.find(({ on }) => isNamed(on, error))?.step;
}

interface Surroundings extends ErrorNameSurroundings {
  readonly problems: ProblemList;
  readonly stepNames: ReadonlySet<string>;
}

export interface RoughHandlers {
  readonly onFailure: readonly FailureHandler[];
  /** Whether `onFailure` is present and wrong. Failures may then have been meant to lead to other steps too. */
  readonly isFailureTransitionBroken: boolean;
}

/** Reads `onFailure`: the name of a step, or a list of handlers. */
export function readFailureHandlers(
  step: RawObject,
  ownName: string | undefined,
  surroundings: Surroundings,
): RoughHandlers {
  const value = step.fields.onFailure;
  if (value === undefined) return { onFailure: [], isFailureTransitionBroken: false };
  const reader = new HandlerReader(ownName, surroundings);
  if (Array.isArray(value)) return reader.readList(step, value);
  const target = reader.readTarget(step, "onFailure", `${targetWords}, or a list of {"on": [errors], "then": step}`);
  return target === undefined ? { onFailure: [], isFailureTransitionBroken: true } : onlyOne(target);
}

const targetWords = "the name of the step that a failure leads to";

function onlyOne(step: string): RoughHandlers {
  return { onFailure: [{ step }], isFailureTransitionBroken: false };
}

class HandlerReader {
  readonly #ownName: string | undefined;
  readonly #surroundings: Surroundings;
  /** For each name of an error, the position of the first handler that has it. */
  readonly #firstFor = new Map<string, number>();

  constructor(ownName: string | undefined, surroundings: Surroundings) {
    this.#ownName = ownName;
    this.#surroundings = surroundings;
  }

  readList(step: RawObject, list: readonly JsonValue[]): RoughHandlers {
    const { problems, isRegistered } = this.#surroundings;
    const countBefore = problems.count;
    if (list.length === 0)
      step.refuse("onFailure", "has no entry; leave `onFailure` out if no failure of the step should be handled");
    if (list.length > maxHandlers && !isRegistered) {
      step.refuse("onFailure", `has ${list.length} entries; a step may have ${maxHandlers}`);
      return { onFailure: [], isFailureTransitionBroken: true };
    }
    const onFailure = list.flatMap((entry, index) => this.#readEntry(step, entry, index, list.length) ?? []);
    return { onFailure, isFailureTransitionBroken: problems.count > countBefore };
  }

  /** Reads the name of a step in this field; undefined when it is wrong. */
  readTarget(raw: RawObject, field: string, wanted: string): string | undefined {
    const { stepNames } = this.#surroundings;
    const name = raw.fields[field];
    if (typeof name !== "string") {
      raw.refuse(field, `must be ${wanted}, but is ${describeValue(name ?? null)}`);
      return undefined;
    }
    if (!stepNames.has(name)) {
      raw.refuse(field, `there is no step ${quoted(name)}${raw.hint(name, stepNames)}`);
      return undefined;
    }
    if (name !== this.#ownName) return name;
    raw.refuse(field, "a step cannot take over after its own failure; use `retry` to try it again");
    return undefined;
  }

  #readEntry(step: RawObject, entry: JsonValue, index: number, count: number): FailureHandler | undefined {
    const pointer = pointerTo(step.pointerTo("onFailure"), index);
    if (!isJsonObject(entry)) {
      step.refuseAt(pointer, `must be {"on": [errors], "then": step}, but is ${describeValue(entry)}`);
      return undefined;
    }
    const raw = new RawObject(entry, pointer, this.#surroundings.problems);
    raw.refuseUnknown(handlerFields, "a field of an entry of `onFailure`");
    const on = readErrorNames(raw, takenByNobody, this.#surroundings);
    if (!this.#surroundings.isRegistered) this.#refuseUnreachable(raw, on, index, count);
    const target = raw.require("then", targetWords) ? this.readTarget(raw, "then", targetWords) : undefined;
    return target === undefined ? undefined : { step: target, ...(on !== undefined && { on }) };
  }

  /** Refuses a handler that takes every error if other handlers follow it. Also refuses a name that an earlier handler has already. */
  #refuseUnreachable(raw: RawObject, on: readonly string[] | undefined, index: number, count: number): void {
    if (raw.fields.on === undefined && index < count - 1) {
      raw.refuseAt(
        raw.pointer,
        "has no `on`, so it handles every failure, and the entries after it handle none; put it last",
      );
    }
    for (const [place, name] of (on ?? []).entries()) {
      const first = this.#firstFor.get(name);
      if (first === undefined) this.#firstFor.set(name, index);
      else if (first < index)
        raw.refuseAt(
          pointerTo(raw.pointerTo("on"), place),
          `entry ${first} already handles ${quoted(name)}; name each error in only one entry`,
        );
    }
  }
}

const handlerFields: ReadonlySet<string> = new Set(["on", "then"]);
/** The same maximum as that of the names in one list: a person cannot handle more kinds of errors separately. */
const maxHandlers = 100;
const takenByNobody: ReadonlyMap<string, string> = new Map([
  ["StepLimitExceeded", "is the error of a job that entered too many steps; no step handles it, so remove it"],
  ["ValueLimitExceeded", "is the error of a job that carries too many bytes; no step handles it, so remove it"],
]);
