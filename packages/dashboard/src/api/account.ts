import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, resultOf } from "./api.ts";

export type Account = Schemas["Account"];
export type AccountActivity = Schemas["AccountActivity"];

export const accountQueryKey = ["account"] as const;

export const accountQuery = queryOptions({
  queryKey: [...accountQueryKey, "itself"],
  queryFn: async ({ signal }) => await resultOf(api.GET("/account", { signal })),
});

export async function updateAccount(displayName: string) {
  return await resultOf(api.PATCH("/account", { body: { displayName } }));
}

export interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly code?: string;
  readonly keepUserTokens?: boolean;
}

export async function changePassword(body: PasswordChange) {
  await resultOf(api.POST("/account/password", { body }));
}

export async function startSecondFactor(password: string) {
  return await resultOf(api.POST("/account/second-factor", { body: { password } }));
}

/** Only this answer has the recovery codes. */
export async function confirmSecondFactor(code: string) {
  return await resultOf(api.POST("/account/second-factor/confirm", { body: { code } }));
}

interface Proof {
  readonly password: string;
  readonly code: string;
}

export async function disableSecondFactor(body: Proof) {
  await resultOf(api.POST("/account/second-factor/disable", { body }));
}

/** Only this answer has the new recovery codes. */
export async function renewRecoveryCodes(body: Proof) {
  return await resultOf(api.POST("/account/recovery-codes", { body }));
}

export const accountActivityQuery = infiniteQueryOptions({
  queryKey: [...accountQueryKey, "activity"],
  queryFn: async ({ signal, pageParam }) => {
    const query = { pageSize: 100, ...(pageParam !== undefined && { pageToken: pageParam }) };
    return await resultOf(api.GET("/account/activity", { params: { query }, signal }));
  },
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.nextPageToken,
});
