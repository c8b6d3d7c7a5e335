import type { RareRules, Schema } from "./node.ts";

export const noRareRules: RareRules = {
  oneOf: undefined,
  not: undefined,
  conditional: undefined,
  multipleOf: undefined,
  uniqueItems: false,
  minProperties: 0,
  maxProperties: Number.POSITIVE_INFINITY,
  propertyNames: undefined,
  dependentRequired: undefined,
};

/** All schemas that are also applied to the same value. The value need not fit all of them (as with `not` and `if`). */
export function schemasBeside({ allOf, anyOf, rare }: Schema): readonly Schema[] {
  const common = [...(allOf ?? []), ...(anyOf ?? [])];
  if (rare === undefined) return common;
  const { oneOf, not, conditional } = rare;
  const branches = conditional && [conditional.condition, conditional.consequent, conditional.alternative];
  return [...common, ...(oneOf ?? []), ...(not === undefined ? [] : [not]), ...(branches ?? [])];
}
