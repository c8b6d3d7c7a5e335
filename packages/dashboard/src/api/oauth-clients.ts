import { infiniteQueryOptions } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, resultOf } from "./api.ts";

export type OAuthClient = Schemas["OAuthClient"];

const path = "/organizations/{organizationId}/oauth-clients" as const;

export function oauthClientsQueryKey(organizationId: string) {
  return ["organizations", organizationId, "oauth-clients"] as const;
}

export function oauthClientsQuery(organizationId: string) {
  return infiniteQueryOptions({
    queryKey: oauthClientsQueryKey(organizationId),
    queryFn: async ({ signal, pageParam }) => {
      const query = { pageSize: 100, ...(pageParam !== undefined && { pageToken: pageParam }) };
      return await resultOf(api.GET(path, { params: { path: { organizationId }, query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextPageToken,
  });
}

export async function createOAuthClient(organizationId: string, body: { name: string; redirectUris: string[] }) {
  return await resultOf(api.POST(path, { params: { path: { organizationId } }, body }));
}

export async function deleteOAuthClient(organizationId: string, clientId: string) {
  await resultOf(api.DELETE(`${path}/{clientId}`, { params: { path: { organizationId, clientId } } }));
}
