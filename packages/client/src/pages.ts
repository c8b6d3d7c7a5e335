import { foreignAnswer } from "./error.ts";

/** The number of items that one request of an iteration asks for by default. */
const usualPageSize = 100;

/** The query of a list. */
export interface PageQuery {
  readonly pageSize?: number;
  readonly pageToken?: string;
}

/**
 * A list that the service returns in pages: `for await (const item of list)` goes through its items, and requests the next page when it gets there.
 * Each iteration begins with the first item.
 */
export class Pages<Page, Item> implements AsyncIterable<Item> {
  readonly #read: (query: PageQuery) => Promise<Page>;
  readonly #query: PageQuery;
  readonly #itemsField: string;

  constructor(read: (query: PageQuery) => Promise<Page>, query: PageQuery, itemsField: string) {
    this.#read = read;
    this.#query = query;
    this.#itemsField = itemsField;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages())
      yield* (page as Readonly<Record<string, readonly Item[]>>)[this.#itemsField] ?? [];
  }

  /** Yields the answers themselves, one for each request. An answer can have fields besides the items, such as `totalCount`. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    let query: PageQuery = { pageSize: usualPageSize, ...this.#query };
    for (;;) {
      const page = await this.#read(query);
      yield page;
      const { nextPageToken } = page as PageEnd;
      if (nextPageToken === undefined) return;
      // With a page that names itself as the next page, the loop would never end.
      if (nextPageToken === query.pageToken) throw foreignAnswer(200, "a page that names itself as the next one");
      query = { ...query, pageToken: nextPageToken };
    }
  }

  /** Returns all items, or the first `maxItems`. */
  async toArray(maxItems = Number.POSITIVE_INFINITY): Promise<Item[]> {
    const items: Item[] = [];
    if (maxItems <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= maxItems) break;
    }
    return items;
  }
}

interface PageEnd {
  readonly nextPageToken?: string;
}
