import { infiniteQueryOptions } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { accountQueryKey } from "./account.ts";
import { api, resultOf } from "./api.ts";

export type UserSession = Schemas["Session"];

export const sessionsQuery = infiniteQueryOptions({
  queryKey: [...accountQueryKey, "sessions"],
  queryFn: async ({ signal, pageParam }) => {
    const query = { pageSize: 100, ...(pageParam !== undefined && { pageToken: pageParam }) };
    return await resultOf(api.GET("/account/sessions", { params: { query }, signal }));
  },
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.nextPageToken,
});

export async function endSession(sessionId: string) {
  await resultOf(api.DELETE("/account/sessions/{sessionId}", { params: { path: { sessionId } } }));
}
