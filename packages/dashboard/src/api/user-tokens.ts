import { infiniteQueryOptions } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { accountQueryKey } from "./account.ts";
import { api, resultOf } from "./api.ts";

export type UserToken = Schemas["UserToken"];

export const userTokensQuery = infiniteQueryOptions({
  queryKey: [...accountQueryKey, "tokens"],
  queryFn: async ({ signal, pageParam }) => {
    const query = { pageSize: 100, ...(pageParam !== undefined && { pageToken: pageParam }) };
    return await resultOf(api.GET("/account/tokens", { params: { query }, signal }));
  },
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.nextPageToken,
});

export interface UserTokenWish {
  readonly name: string;
  /** Null means that the token never expires. */
  readonly expiresAt?: string | null;
  readonly password?: string;
  readonly code?: string;
}

/** Only this answer has the token's secret. */
export async function createUserToken(body: UserTokenWish) {
  return await resultOf(api.POST("/account/tokens", { body }));
}

export async function revokeUserToken(userTokenId: string) {
  await resultOf(api.DELETE("/account/tokens/{userTokenId}", { params: { path: { userTokenId } } }));
}
