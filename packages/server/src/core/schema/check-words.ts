import { didYouMean } from "../closest-name.ts";
import type { JsonObject } from "../json/json.ts";
import type { AllowedValues, ObjectRules } from "./node.ts";
import { describeTypes, joinWords, type TypeSet, typeSets } from "./type-set.ts";

/** Says what is wrong with a value of a wrong type, for example "must be a string, but is null". */
export function wrongType(wanted: TypeSet, found: TypeSet): string {
  // For "must be an integer", the message also says why the given number is not an integer.
  const isFraction = found === typeSets.fraction && (wanted & typeSets.whole) !== 0;
  const foundType = found === typeSets.whole ? typeSets.number : found;
  const shown = isFraction
    ? "a number with a fraction"
    : found === typeSets.fraction
      ? "a number"
      : describeTypes(foundType);
  return wanted === 0 ? "is not allowed here" : `must be ${describeTypes(wanted)}, but is ${shown}`;
}

export function notAllowed(name: string, rules: ObjectRules, value: JsonObject): string {
  const missing = [...rules.properties.keys()].filter((declared) => !Object.hasOwn(value, declared));
  return `is not a property that is allowed here${didYouMean(name, missing)}`;
}

export function describeAllowed({ all, compounds }: AllowedValues): string {
  const isShort = compounds.size === 0 && all.length <= 10;
  const list = isShort
    ? joinWords(
        all.map((value) => JSON.stringify(value)),
        "or",
      )
    : "";
  if (isShort && list.length <= 200) return `must be ${list}`;
  return all.length === 1 ? "is not the one allowed value" : `is not among the ${all.length} allowed values`;
}

export function count(amount: number, unit: string, units = `${unit}s`): string {
  return `${amount} ${amount === 1 ? unit : units}`;
}
