import { hash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { maxValuesSize, sizeOfJson } from "../../core/json/json-size.ts";
import type { ShownValue } from "../../core/json/json-text.ts";
import { ServiceError } from "../../core/service-error.ts";

const size = { minimum: 1, maximum: 200 };
const pageToken = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 2_000,
    description:
      "The `nextPageToken` of the previous answer. Send the same filters with it as before. Its content is opaque.",
  }),
);

/** The parameters of lists that grow with every job, request or change. Use them with `pageOf`. */
export const pagingParameters = {
  pageSize: Type.Optional(
    Type.Integer({ ...size, default: 25, description: "The maximum number of entries in one answer." }),
  ),
  pageToken,
};

/**
 * The parameters of lists of things that people make. Use them with `pageOfShortList`. The default page is large, so that a client without paging
 * nearly always gets everything that the organization has. With a small page it would get the first few, and would not notice that there are more.
 */
export const shortListParameters = {
  pageSize: Type.Optional(
    Type.Integer({
      ...size,
      description: "The maximum number of entries in one answer. If it is left out, it is 1,000.",
    }),
  ),
  pageToken,
};

export const nextPageToken = Type.Optional(
  Type.String({
    description: "The value to send as `pageToken` for the next page. It is left out on the last page.",
  }),
);

interface PagedQuery {
  readonly pageSize?: number;
  readonly pageToken?: string;
}

export interface Page {
  /** The last key of the previous page; null on the first page. */
  readonly after: string | null;
  readonly size: number;
  /** The number of rows to read. It is one more than `size`, to find out whether there is a next page. */
  readonly limit: number;
  /**
   * Cuts the rows that were read, at most `limit`, to one page. If the rows contain values of jobs (`contentOf`), a page has only as many rows as fit
   * into an answer. `moreAfter` is for a read that stopped early: there are more rows although fewer than `limit` were read, and the next page begins
   * after this key.
   */
  cut<Row>(
    rows: readonly Row[],
    keyOf: (row: Row) => string,
    contentOf?: (row: Row) => ShownValue | readonly ShownValue[],
    moreAfter?: string,
  ): { rows: readonly Row[]; nextPageToken?: string };
}

type IsKey = (key: string) => boolean;

/**
 * Finds out which page a request asks for. A page token is bound to the operation, the path and the filters. If the path names no
 * organization, the token is bound to the caller too. A malformed token, or a token of another list, is rejected.
 */
export function pageOf(request: FastifyRequest, isKey: IsKey = isUuid): Page {
  return readPage(request, isKey, 25);
}

/** Does the same as `pageOf` for a list that takes `shortListParameters`. */
export function pageOfShortList(request: FastifyRequest, isKey: IsKey = isUuid): Page {
  return readPage(request, isKey, 1_000);
}

function readPage(request: FastifyRequest, isKey: IsKey, defaultSize: number): Page {
  const { pageSize, pageToken, ...filters } = request.query as PagedQuery;
  const binding = bindingOf(request, filters);
  const after = pageToken === undefined ? null : openToken(pageToken, binding, isKey);
  const size = pageSize ?? defaultSize;
  return {
    after,
    size,
    limit: size + 1,
    cut(found, keyOf, contentOf, moreAfter) {
      const fitting = contentOf === undefined ? size : Math.min(size, countFitting(found.map(contentOf)));
      if (found.length <= fitting) {
        return { rows: found, ...(moreAfter !== undefined && { nextPageToken: sealToken(moreAfter, binding) }) };
      }
      const rows = found.slice(0, fitting);
      const last = rows.at(-1);
      return last === undefined ? { rows } : { rows, nextPageToken: sealToken(keyOf(last), binding) };
    },
  };
}

/** Returns how many of the values, from the first on, fit into one answer. The first value is always taken, however large it is. */
function countFitting(values: readonly (ShownValue | readonly ShownValue[])[]): number {
  let room = maxValuesSize;
  const tooMany = values.findIndex((value) => {
    room -= sizeOfJson(value, room);
    return room < 0;
  });
  return tooMany === -1 ? values.length : Math.max(1, tooMany);
}

function isUuid(key: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(key);
}

export function isPositiveInteger(key: string): boolean {
  return /^[1-9]\d{0,8}$/.test(key);
}

const bindingLength = 12;

function bindingOf(request: FastifyRequest, filters: object): string {
  const entries = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1));
  const { organizationId } = request.params as { readonly organizationId?: string };
  const bound = [
    request.routeOptions.schema?.operationId,
    request.params,
    entries,
    // A path without an organization leads to a list of the caller's own things.
    ...(organizationId === undefined ? [request.caller.principal.id] : []),
  ];
  return hash("sha256", JSON.stringify(bound), "base64url").slice(0, bindingLength);
}

function sealToken(key: string, binding: string): string {
  return Buffer.from(binding + key, "utf8").toString("base64url");
}

function openToken(token: string, binding: string, isKey: IsKey): string {
  const text = Buffer.from(token, "base64url").toString("utf8");
  const key = text.slice(bindingLength);
  // PostgreSQL accepts no NUL in a text.
  if (sealToken(key, binding) !== token || key.includes("\0") || !isKey(key)) {
    const detail = "was not returned by this list for these filters; start again without it";
    const problems = [{ pointer: "/pageToken", detail }];
    throw new ServiceError("ValidationError", `The pageToken ${detail}.`, { problems });
  }
  return key;
}
