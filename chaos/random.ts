/**
 * Returns true with this probability. The random choices of a campaign have no seed: its course also depends on when processes are killed, which a
 * seed cannot repeat. So the history of each campaign is recorded.
 */
export function chance(probability: number): boolean {
  return Math.random() < probability;
}

export function between(low: number, high: number): number {
  return low + Math.random() * (high - low);
}

export function wholeBetween(low: number, high: number): number {
  return low + Math.floor(Math.random() * (high - low + 1));
}

export function pick<Item>(items: readonly Item[]): Item {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error("There is nothing to pick from.");
  return item;
}

export function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((left, right) => left.order - right.order)
    .map(({ item }) => item);
}
