import { infiniteQueryOptions } from "@tanstack/react-query";
import type { Answer, AuditFilters, Schemas } from "../document.ts";
import { api, resultOf } from "./api.ts";
import { ProblemError, unreachable } from "./problem.ts";

export type AuditEntry = Schemas["AuditEntry"];
export type AuditVerification = Answer<"VerifyAudit">;

const path = "/organizations/{organizationId}/audit" as const;

export function auditQuery(organizationId: string, filters: AuditFilters) {
  return infiniteQueryOptions({
    queryKey: ["organizations", organizationId, "audit", filters],
    queryFn: async ({ signal, pageParam }) => {
      const query = { ...filters, pageSize: 100, ...(pageParam !== undefined && { pageToken: pageParam }) };
      return await resultOf(api.GET(path, { params: { path: { organizationId }, query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextPageToken,
  });
}

/** Reads all entries that match the filters, as CSV. An answer that ends too early is an error. */
export async function exportAudit(organizationId: string, filters: AuditFilters): Promise<Blob> {
  const params = { path: { organizationId }, query: { ...filters, format: "csv" as const } };
  try {
    return await resultOf<Blob>(api.GET(`${path}/export`, { params, parseAs: "blob" }));
  } catch (error) {
    throw error instanceof ProblemError ? error : unreachable();
  }
}

export async function verifyAudit(organizationId: string): Promise<AuditVerification> {
  return await resultOf(api.GET(`${path}/verification`, { params: { path: { organizationId } } }));
}
