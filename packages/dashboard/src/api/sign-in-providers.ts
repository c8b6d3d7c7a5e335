import { queryOptions } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, resultOf } from "./api.ts";

export type SignInProvider = Schemas["SignInProvider"];

export function signInProvidersQuery(organizationId: string) {
  return queryOptions({
    queryKey: ["organizations", organizationId, "sign-in-providers"],
    queryFn: async ({ signal }) => {
      const params = { path: { organizationId }, query: { pageSize: 200 } };
      const path = "/organizations/{organizationId}/sign-in-providers";
      return (await resultOf(api.GET(path, { params, signal }))).signInProviders;
    },
  });
}
