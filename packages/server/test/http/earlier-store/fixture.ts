import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Client } from "@stepwell/testing/client.ts";

/** A whole store as an earlier build wrote it, and the answers of that build. */
export interface EarlierStore {
  readonly schema: number;
  readonly writtenAt: string;
  /** A key that was made only for this store. The store's secrets are sealed with it. */
  readonly secretKey: string;
  readonly owner: Credential & { readonly email: string; readonly password: string };
  readonly member: Credential & { readonly email: string; readonly password: string };
  /** The user who signed in through the organization's identity provider. */
  readonly outsiderId: string;
  readonly organizationId: string;
  readonly otherOrganizationId: string;
  readonly apiTokens: Readonly<Record<"whole" | "narrow" | "oneEvent" | "revoked" | "other", string>>;
  readonly workflowIds: Readonly<Record<string, string>>;
  readonly jobIds: Readonly<Record<string, string>>;
  /** The answers of the earlier build about the jobs of `finishJobs` and `restJobs` (write.ts). */
  readonly jobAnswers: Readonly<Record<string, readonly AskedAnswer[]>>;
  /** The answers of the earlier build about the organization and its lists. */
  readonly answers: readonly AskedAnswer[];
  /** Writes that were made under an Idempotency-Key or the id of a generated client's call. */
  readonly keyedAnswers: readonly (AskedAnswer & { readonly status: number })[];
  /** Every table that has rows, in the order in which they can be filled. */
  readonly tables: readonly EarlierTable[];
}

interface Credential {
  readonly userId: string;
  readonly token: string;
}

export interface AskedAnswer {
  readonly operation: string;
  readonly options: {
    readonly params?: Record<string, string>;
    readonly query?: Record<string, string | number>;
    readonly body?: unknown;
    readonly headers?: Record<string, string>;
  };
  readonly body: unknown;
}

export interface EarlierTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Each value in the text form of the PostgreSQL server, so that JSON does not change its spelling; null is SQL's NULL. */
  readonly rows: readonly (readonly (string | null)[])[];
}

/** Reads a store that `write.ts` wrote. */
export function readEarlierStore(schema: number): EarlierStore {
  return JSON.parse(gunzipSync(readFileSync(fixtureFile(schema))).toString("utf8")) as EarlierStore;
}

export function fixtureFile(schema: number): URL {
  return new URL(`schema-${schema}.json.gz`, import.meta.url);
}

/** Returns the whole body of an operation, and for a list all pages as one. */
export async function readAll(
  api: Client,
  operation: string,
  { query, ...options }: AskedAnswer["options"],
): Promise<object> {
  const pages: Record<string, unknown>[] = [];
  let pageToken: string | undefined;
  do {
    const { body } = await api.call(operation, { ...options, query: { ...query, ...(pageToken && { pageToken }) } });
    const { nextPageToken, ...page } = body;
    pageToken = nextPageToken as string | undefined;
    pages.push(page);
  } while (pageToken !== undefined);
  const [first = {}, ...others] = pages;
  if (others.length === 0) return first;
  const merged = Object.entries(first).map(([field, value]) => [field, pages.flatMap((page) => page[field] ?? value)]);
  return Object.fromEntries(merged);
}
