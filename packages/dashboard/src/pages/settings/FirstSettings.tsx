import { Navigate, useParams } from "@tanstack/react-router";

export function FirstSettings() {
  const params = useParams({ from: "/app/organizations/$organizationId" });
  return <Navigate to="/app/organizations/$organizationId/settings/api-tokens" params={params} replace />;
}
