/** With eight pieces of work at once, a service stays busy while its store commits. */
const maxAtOnce = 8;

/** Does the work for each item, for several items at the same time. */
export async function atOnce<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: maxAtOnce }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
}
