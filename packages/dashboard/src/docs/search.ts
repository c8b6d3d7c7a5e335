/** One row of the index that the build makes: the address below `/docs`, the page, the heading with the headings above it, and the text below it. */
export type Row = readonly [address: string, page: string, heading: string, text: string];

export interface Found {
  readonly row: Row;
  /** The part of the text around the first word that was found, in pieces. Every second piece is a word that was found. */
  readonly snippet: readonly string[];
}

/** Finds the rows that have every word of the query, the best first, up to `maxFound`. A word is also found as a part of a longer word. */
export function search(rows: readonly Row[], query: string): readonly Found[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return rows
    .map((row) => ({ row, score: scoreOf(row, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, maxFound)
    .map(({ row }) => ({ row, snippet: snippetOf(row[3], words) }));
}

const maxFound = 20;

/**
 * Returns the score of a row; 0 if a word is missing. The score is highest if the heading is equal to the query. A word counts most if it is in the
 * heading, less if it is in the name of the page, and least if it is only in the text.
 */
function scoreOf([, page, heading, text]: Row, words: readonly string[]): number {
  const [lowerPage, lowerHeading, lowerText] = [page.toLowerCase(), heading.toLowerCase(), text.toLowerCase()];
  const [query, own] = [words.join(" "), lowerHeading.split(" › ").at(-1)];
  let score = own === query || own === words.join("") ? 200 : 0;
  for (const word of words) {
    const best = 40 * placeOf(lowerHeading, word) || 10 * placeOf(lowerPage, word) || 4 * placeOf(lowerText, word);
    if (best === 0) return 0;
    score += best;
  }
  return score;
}

/** Returns 2 if a word of the text begins with this word, 1 if it is only inside longer words, and 0 if the text does not have it. */
function placeOf(text: string, word: string): number {
  const place = text.indexOf(word);
  if (place < 0) return 0;
  return beginsAt(text, word) ? 2 : 1;
}

function beginsAt(text: string, word: string): boolean {
  for (let place = text.indexOf(word); place >= 0; place = text.indexOf(word, place + 1)) {
    if (place === 0 || !/[\p{L}\p{N}]/u.test(text[place - 1] ?? "")) return true;
  }
  return false;
}

const charactersBefore = 40;
const charactersShown = 160;

function snippetOf(text: string, words: readonly string[]): readonly string[] {
  const lower = text.toLowerCase();
  const long = words.filter(({ length }) => length >= minPartLength);
  const places = (long.length === 0 ? words : long).map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const from = first <= charactersBefore ? 0 : text.lastIndexOf(" ", first - charactersBefore) + 1;
  const shown = text.slice(from, from + charactersShown);
  const marks = words.map(patternOf).join("|");
  const pieces = shown.split(new RegExp(`(${marks})`, "iu"));
  if (from > 0) pieces[0] = `… ${pieces[0]}`;
  if (from + charactersShown < text.length) pieces.push(`${pieces.length % 2 === 0 ? "" : `${pieces.pop()}`} …`);
  return pieces;
}

/** Returns a pattern for the places to mark. A short word, such as "a", is a part of many other words, so it is marked only as a word of its own. */
function patternOf(word: string): string {
  const escaped = word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return word.length < minPartLength ? `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])` : escaped;
}

const minPartLength = 3;
