import type { Budget } from "./budget.ts";

/**
 * Finds the positions of one text in another, from the left and without overlap (algorithm of Knuth, Morris and Pratt). JavaScript's own search can
 * take time proportional to the product of both lengths, which would be many seconds for two texts of half a megabyte.
 */
export function* occurrences(text: string, wanted: string, budget: Budget): Generator<number> {
  budget.spend(unitsPerSearch);
  budget.spendOnText(text.length + wanted.length, charactersPerUnit);
  const fallbacks = fallbacksOf(wanted);
  let matched = 0;
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position);
    while (matched > 0 && wanted.charCodeAt(matched) !== code) matched = fallbacks[matched - 1] as number;
    if (wanted.charCodeAt(matched) === code) matched++;
    if (matched < wanted.length) continue;
    budget.spend(unitsPerOccurrence);
    yield position - wanted.length + 1;
    matched = 0;
  }
}

/** For each prefix of `wanted`: the length of its longest proper prefix that is also its suffix. */
function fallbacksOf(wanted: string): Int32Array {
  const fallbacks = new Int32Array(wanted.length);
  let length = 0;
  for (let position = 1; position < wanted.length; position++) {
    const code = wanted.charCodeAt(position);
    while (length > 0 && wanted.charCodeAt(length) !== code) length = fallbacks[length - 1] as number;
    if (wanted.charCodeAt(length) === code) length++;
    fallbacks[position] = length;
  }
  return fallbacks;
}

const charactersPerUnit = 2;
const unitsPerOccurrence = 4;
const unitsPerSearch = 10;
