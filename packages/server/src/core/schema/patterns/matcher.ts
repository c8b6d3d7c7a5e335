import { RE2Set } from "re2js";

/** A compiled pattern. */
export interface Matcher {
  /** The number of checks that matching a text of this length costs. */
  readonly costOf: (length: number) => number;
  /** Whether the pattern matches anywhere in the text, as JSON Schema requires. */
  readonly matches: (text: string) => boolean;
}

/**
 * Returns the matcher of a pattern. All definitions share the matchers, and those used most recently are kept. A matcher usually takes about ten
 * KiB, but it can take half a MiB. If each definition kept its own matchers, one definition could take a hundred MiB. Compiling a usual pattern again
 * takes a tenth of a millisecond.
 */
export function compiled(source: string, work: number): Matcher {
  const known = matchers.get(source);
  // A Map keeps the order of insertion. Each use inserts the pattern again, so the first key is the one that was used longest ago.
  if (known !== undefined) matchers.delete(source);
  const matcher = known ?? compile(source, work);
  matchers.set(source, matcher);
  if (known === undefined) forgetBeyond(source, matcher.bytes);
  return matcher;
}

const matchers = new Map<string, Matcher & { readonly bytes: number }>();
let bytesInUse = 0;

/** The bound on all matchers together. It is enough for a few thousand usual patterns. */
const maxMatcherBytes = 32 * 1024 * 1024;

function forgetBeyond(added: string, bytes: number): void {
  bytesInUse += bytes;
  for (const [source, matcher] of matchers) {
    if (bytesInUse <= maxMatcherBytes || source === added) return;
    matchers.delete(source);
    bytesInUse -= matcher.bytes;
  }
}

/**
 * RE2 remembers the states that it has met, by default in up to 8 MiB. Many definitions may have many patterns, so each pattern gets only
 * `stateBytes`. A usual pattern needs far less. `RE2Set` is used because it is the part of re2js in which this memory can be set. It is also the
 * fastest part.
 */
const stateBytes = 256 * 1024;

function compile(source: string, work: number): Matcher & { readonly bytes: number } {
  const set = new RE2Set(RE2Set.UNANCHORED, 0, stateBytes);
  set.add(source);
  // The first match makes the state with which every match begins.
  set.match("");
  const isSmall = hasFewStates(set, work * stepsPerWork);
  const steps = stepsPerCharacter(set);
  return {
    costOf: isSmall
      ? (length) => checksPerMatch + (length >> 2)
      : (length) => checksPerMatch + Math.ceil((length * steps) / 2),
    matches: (text) => set.match(text).length > 0,
    bytes: bytesOf(set, isSmall),
  };
}

/**
 * The number of checks that each match costs in addition to its characters. A check takes about 20 ns, and a match without characters 100 ns
 * (measured). Once all states of the automaton are known, each character costs one look-up.
 */
const checksPerMatch = 4;

/** When there are too many states, each character costs one step for each instruction, or more if the instruction has many ranges. */
function stepsPerCharacter({ prog }: RE2Set): number {
  return prog.inst.reduce((sum, { runes }) => sum + 1 + Math.log2(1 + runes.length) / 4, 0);
}

/**
 * Finds all states of the pattern. Returns false if there are too many. Once all are found, no text can cause expensive work. Nearly all patterns
 * that people write have few states.
 */
function hasFewStates({ dfa }: RE2Set, maxSteps: number): boolean {
  const states = new Set<State>(dfa.startStates.values());
  let steps = 0;
  // The loop also visits states that it adds to the set.
  for (const state of states) {
    steps += (state.nfaStates.length + stepsPerState) * dfa.numClasses;
    if (steps > maxSteps) return false;
    for (let characterClass = 0; characterClass < dfa.numClasses; characterClass++) {
      const character = characterClass === 0 ? 0 : (dfa.classBounds[characterClass - 1] ?? 0);
      const next: State | null = dfa.step(state, characterClass, character, RE2Set.UNANCHORED);
      if (next === null) return false;
      states.add(next);
    }
    if (dfa.step(state, dfa.numClasses, endOfText, RE2Set.UNANCHORED) === null) return false;
  }
  return true;
}

/** A unit of a pattern's work counts as this many steps here. A step takes about 50 ns. */
const stepsPerWork = 50;
const stepsPerState = 4;
const endOfText = -1;

interface State {
  readonly nfaStates: readonly number[];
}

/** The bytes in memory that the matcher takes or may take later. */
function bytesOf({ dfa, prog }: RE2Set, isSmall: boolean): number {
  const states = isSmall ? stateBytes - dfa.memBudget : stateBytes;
  const ranges = prog.inst.reduce((sum, { runes }) => sum + runes.length, 0);
  return bytesPerMatcher + states + prog.numInst() * bytesPerInstruction + ranges * 8;
}

const bytesPerMatcher = 8 * 1024;
const bytesPerInstruction = 300;
