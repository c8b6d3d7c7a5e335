import { useQuery } from "@tanstack/react-query";
import { type AnyRoute, Navigate, type StaticDataRouteOption, useParams, useRouter } from "@tanstack/react-router";
import { ownPermissionsQuery } from "../../api/permissions.ts";
import { PageProblem } from "../../parts/states/PageProblem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";

/**
 * Leads to the first page of the settings that the reader may see. If there is none, leads to the members, where everybody can leave the
 * organization.
 */
export function FirstSettings() {
  const params = useParams({ from: "/app/organizations/$organizationId" });
  const { routesById } = useRouter();
  const { data, error, refetch } = useQuery(ownPermissionsQuery(params.organizationId));
  if (data === undefined)
    return error === null ? <Skeleton /> : <PageProblem error={error} onRetry={() => void refetch()} />;
  const pages = (routesById["/app/organizations/$organizationId/settings"].children ?? []) as readonly AnyRoute[];
  const allowed = pages.find(({ options }) => {
    const { permission } = (options.staticData ?? {}) as StaticDataRouteOption;
    return permission !== undefined && data.permissions.includes(permission);
  });
  const to = allowed?.fullPath ?? "/app/organizations/$organizationId/settings/members";
  return <Navigate to={to} params={params} replace />;
}
