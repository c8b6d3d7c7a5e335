import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import { organizationsQuery } from "../api/organizations.ts";
import { Problem } from "../parts/states/Problem.tsx";
import { Skeleton } from "../parts/states/Skeleton.tsx";
import { lastOf } from "./last-organization.ts";
import { NoOrganization } from "./NoOrganization.tsx";

/** Leads to the organization that was last open in this browser, or else to the first one. */
export function FirstPage() {
  const { data, error, refetch } = useQuery(organizationsQuery);
  if (data === undefined)
    return error === null ? <Skeleton /> : <Problem error={error} onRetry={() => void refetch()} />;
  const chosen = lastOf(data);
  if (chosen === undefined) return <NoOrganization />;
  const { organizationId } = chosen;
  return <Navigate to="/app/organizations/$organizationId" params={{ organizationId }} replace />;
}
