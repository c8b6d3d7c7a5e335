import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { GrantablePermission, Schemas } from "../document.ts";
import { api, ifMatch, resultOf, resultWithEtag, type WithEtag } from "./api.ts";

export type ApiToken = Schemas["ApiToken"];

const path = "/organizations/{organizationId}/api-tokens" as const;
const tokenPath = "/organizations/{organizationId}/api-tokens/{tokenId}" as const;

export interface ApiTokenKey {
  readonly organizationId: string;
  readonly tokenId: string;
}

export function apiTokensQueryKey(organizationId: string) {
  return ["organizations", organizationId, "api-tokens"] as const;
}

export function apiTokensQuery(organizationId: string) {
  return infiniteQueryOptions({
    queryKey: [...apiTokensQueryKey(organizationId), "list"],
    queryFn: async ({ signal, pageParam }) => {
      const query = { pageSize: 100, ...(pageParam !== undefined && { pageToken: pageParam }) };
      return await resultOf(api.GET(path, { params: { path: { organizationId }, query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextPageToken,
  });
}

/** The ids and names of the first 200 tokens. Few organizations have more tokens. */
export function apiTokenNamesQuery(organizationId: string) {
  return queryOptions({
    queryKey: [...apiTokensQueryKey(organizationId), "names"],
    queryFn: async ({ signal }) => {
      const params = { path: { organizationId }, query: { pageSize: 200 } };
      const { apiTokens } = await resultOf(api.GET(path, { params, signal }));
      return new Map(apiTokens.map(({ tokenId, name }) => [tokenId, name]));
    },
    staleTime: 60_000,
  });
}

/** A token as a page shows it, with the ETag that a change of it sends. */
export type ShownApiToken = WithEtag<ApiToken>;

export function apiTokenQuery(key: ApiTokenKey) {
  return queryOptions({
    queryKey: [...apiTokensQueryKey(key.organizationId), "one", key.tokenId],
    queryFn: async ({ signal }) => await resultWithEtag(api.GET(tokenPath, { params: { path: key }, signal })),
  });
}

export interface ApiTokenWish {
  readonly name: string;
  readonly permissions: GrantablePermission[];
  /** Null means that the token never expires. */
  readonly expiresAt?: string | null;
  readonly boundTo?: NonNullable<ApiToken["boundTo"]>;
}

/** A change of a token. Fields that are left out stay as they are. */
export interface ApiTokenChange {
  readonly name?: string;
  readonly permissions?: GrantablePermission[];
  /** Null means that the token never expires. */
  readonly expiresAt?: string | null;
  /** Null means that the token is limited only by its permissions. */
  readonly boundTo?: NonNullable<ApiToken["boundTo"]> | null;
}

/** Only this answer has the token's secret. */
export async function createApiToken(organizationId: string, body: ApiTokenWish) {
  return await resultOf(api.POST(path, { params: { path: { organizationId } }, body }));
}

/** Changes the token if it is still in the state with this ETag. */
export async function updateApiToken(key: ApiTokenKey, etag: string | undefined, body: ApiTokenChange) {
  return await resultOf(api.PATCH(tokenPath, { params: { path: key, header: ifMatch(etag) }, body }));
}

/** Only this answer has the new secret. */
export async function rotateApiToken(key: ApiTokenKey, overlapSeconds: number) {
  return await resultOf(api.POST(`${tokenPath}/rotate`, { params: { path: key }, body: { overlapSeconds } }));
}

export async function revokeApiToken(key: ApiTokenKey) {
  await resultOf(api.DELETE(tokenPath, { params: { path: key } }));
}
