import { isStoreAway, TransactionAbortedError } from "../store/home/database.ts";

/**
 * Does `work` for all items at once. When it fails, it is tried again with halves of the items, until an item that fails is alone. That item is
 * passed to `onFailed`. Throws when the store is out of reach or when the database aborted the transaction; the work that is done by then stays done.
 */
export async function inHalves<Item, Result>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  onFailed: (item: Item, error: unknown) => void,
): Promise<readonly Result[]> {
  try {
    return await work(items);
  } catch (error) {
    if (isStoreAway(error) || error instanceof TransactionAbortedError) throw error;
    const [first] = items;
    if (first !== undefined && items.length === 1) {
      onFailed(first, error);
      return [];
    }
    const middle = Math.ceil(items.length / 2);
    const results = await inHalves(items.slice(0, middle), work, onFailed);
    return [...results, ...(await inHalves(items.slice(middle), work, onFailed))];
  }
}
