import { type Problem, StepwellError } from "@stepwell/client";
import { warn } from "./terminal.ts";

/** An answer of one of the client's typed operations. */
export interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Pick<Response, "ok" | "status">;
}

export function dataOf<Data>({ data, error, response }: Answer<Data>): Data {
  if (response.ok) return data as Data;
  throw new StepwellError(isProblem(error) ? error : unnamed(response.status));
}

export interface PageQuery {
  readonly pageSize: number;
  readonly pageToken?: string;
}

/** The first items of a list, page by page. Says so when there are more. */
export async function listed<Data extends { readonly nextPageToken?: string }, Item>(
  limit: number,
  ask: (query: PageQuery) => Promise<Answer<Data>>,
  itemsIn: (page: Data) => readonly Item[],
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let pageToken: string | undefined;
  do {
    const pageSize = Math.min(limit - items.length, maxPageSize);
    const page = dataOf(await ask({ pageSize, ...(pageToken !== undefined && { pageToken }) }));
    items.push(...itemsIn(page));
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined && items.length < limit);
  if (pageToken !== undefined) warn(`There are more than these ${items.length}: list more with --limit.`);
  return items;
}

/** Every list of the service gives as many at once. */
const maxPageSize = 100;

function isProblem(error: unknown): error is Problem {
  return typeof error === "object" && error !== null && "code" in error && "detail" in error;
}

/** A proxy in between may answer something of its own. */
function unnamed(status: number): Problem {
  const detail = `The service answered ${status} and no reason.`;
  return { title: "Unexpected answer", status, detail, code: "UnhandledError" };
}
