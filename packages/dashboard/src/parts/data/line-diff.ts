export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** If more lines than this are removed and added, the search for the changes is given up, because it would take too long. */
const maxChanges = 500;

/**
 * Returns the shortest way from one text to the other, line by line (Myers 1986). If the texts differ in too many lines, all
 * lines between their common beginning and their common end count as removed and added.
 */
export function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const head = commonLength(before, after, (lines, index) => lines[index]);
  const rest: Pair = { before: before.slice(head), after: after.slice(head) };
  const tail = commonLength(rest.before, rest.after, (lines, index) => lines[lines.length - 1 - index]);
  const end = (lines: readonly string[]) => lines.slice(0, lines.length - tail);
  return [
    ...before.slice(0, head).map(same),
    ...diffMiddle({ before: end(rest.before), after: end(rest.after) }),
    ...before.slice(before.length - tail).map(same),
  ];
}

interface Pair {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

function diffMiddle(pair: Pair): DiffLine[] {
  const traces = search(pair);
  if (traces === undefined) {
    return [
      ...pair.before.map((text): DiffLine => ({ kind: "removed", text })),
      ...pair.after.map((text): DiffLine => ({ kind: "added", text })),
    ];
  }
  return wayBack(pair, traces);
}

/**
 * The search of Myers' algorithm. A diagonal is the number of lines read of the first text minus the number of lines read of the second text. Entry n
 * of the result says for each diagonal how many lines of the first text can be read with fewer than n changes. Undefined if the changes are too many.
 */
function search({ before, after }: Pair): Map<number, number>[] | undefined {
  const furthest = new Map([[1, 0]]);
  const traces: Map<number, number>[] = [];
  const most = Math.min(maxChanges, before.length + after.length);
  for (let changes = 0; changes <= most; changes += 1) {
    traces.push(new Map(furthest));
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = startOn(furthest, diagonal, changes);
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      furthest.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return traces;
    }
  }
  return undefined;
}

function startOn(furthest: ReadonlyMap<number, number>, diagonal: number, changes: number): number {
  return isFromAbove(furthest, diagonal, changes)
    ? (furthest.get(diagonal + 1) ?? 0)
    : (furthest.get(diagonal - 1) ?? 0) + 1;
}

/** Chooses the change that gets further: to add a line of the second text (from above), or to remove a line of the first text (from the left). */
function isFromAbove(furthest: ReadonlyMap<number, number>, diagonal: number, changes: number): boolean {
  if (diagonal === -changes) return true;
  return diagonal !== changes && (furthest.get(diagonal - 1) ?? -1) < (furthest.get(diagonal + 1) ?? -1);
}

function wayBack({ before, after }: Pair, traces: readonly ReadonlyMap<number, number>[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let x = before.length;
  let y = after.length;
  for (let changes = traces.length - 1; changes >= 0; changes -= 1) {
    const furthest = traces[changes] ?? new Map<number, number>();
    const diagonal = x - y;
    const start = startOn(furthest, diagonal, changes);
    while (x > start) {
      x -= 1;
      y -= 1;
      lines.push(same(before[x] ?? ""));
    }
    if (changes === 0) break;
    if (isFromAbove(furthest, diagonal, changes)) {
      y -= 1;
      lines.push({ kind: "added", text: after[y] ?? "" });
    } else {
      x -= 1;
      lines.push({ kind: "removed", text: before[x] ?? "" });
    }
  }
  return lines.reverse();
}

function commonLength(
  before: readonly string[],
  after: readonly string[],
  lineAt: (lines: readonly string[], index: number) => string | undefined,
): number {
  const most = Math.min(before.length, after.length);
  let length = 0;
  while (length < most && lineAt(before, length) === lineAt(after, length)) length += 1;
  return length;
}

function same(text: string): DiffLine {
  return { kind: "same", text };
}
