import { didYouMean } from "../closest-name.ts";
import { joinWords } from "../schema/type-set.ts";

/**
 * The names of values that an expression can read as a whole; `namedRoots` has the other roots. A new name must be added here, to `Scope` and to
 * `TypeScope`.
 */
export const rootNames = ["input", "output", "result", "error", "item", "index", "job", "now"] as const;
export type RootName = (typeof rootNames)[number];

/** The roots that must be followed by a name as a literal, and the parts that can then be read. */
export const namedRoots = {
  steps: { noun: "step", parts: ["output", "input", "error"] },
  events: { noun: "event", parts: ["payload", "sentAt"] },
  forks: { noun: "fork", parts: ["item", "index"] },
} as const;
export type NamedRoot = keyof typeof namedRoots;
export type StepPart = (typeof namedRoots)["steps"]["parts"][number];
export type EventPart = (typeof namedRoots)["events"]["parts"][number];
export type ForkPart = (typeof namedRoots)["forks"]["parts"][number];

export function isRootName(name: string): name is RootName {
  return (rootNames as readonly string[]).includes(name);
}

export function isNamedRoot(name: string): name is NamedRoot {
  return Object.hasOwn(namedRoots, name);
}

/** The message about an unknown name. `variables` are the variables of the macros around it. */
export function unknownName(name: string, variables: readonly string[]): string {
  const known = [...variables, ...Object.keys(namedRoots), ...rootNames];
  const list = joinWords(
    known.map((word) => `\`${word}\``),
    "and",
  );
  return `\`${name}\` is not a name that can be read here; the names are ${list}${didYouMean(name, known)}`;
}
