import { allOfSchemas, type Conditional, type Schema } from "../node.ts";

/**
 * Returns the lists of alternatives of a schema: `anyOf`, `oneOf`, and the two branches of `if`. A value that fits the schema fits at least one
 * schema of each list.
 */
export function alternativesOf({ anyOf, rare }: Schema): (readonly Schema[])[] {
  const lists = anyOf === undefined ? [] : [anyOf];
  if (rare?.oneOf !== undefined) lists.push(rare.oneOf);
  if (rare?.conditional !== undefined) lists.push(branchesOf(rare.conditional));
  return lists;
}

function branchesOf(conditional: Conditional): readonly Schema[] {
  const known = knownBranches.get(conditional);
  if (known !== undefined) return known;
  const branches = [allOfSchemas([conditional.condition, conditional.consequent]), conditional.alternative];
  knownBranches.set(conditional, branches);
  return branches;
}

/** Lists are compared by their identity, so the list of the branches of an `if` is made only once. */
const knownBranches = new WeakMap<Conditional, readonly Schema[]>();
