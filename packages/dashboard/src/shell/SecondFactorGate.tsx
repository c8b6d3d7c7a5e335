import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useParams } from "@tanstack/react-router";
import { ownPermissionsQuery } from "../api/permissions.ts";
import { asProblem } from "../api/problem.ts";
import { PageHeading } from "../parts/layout/PageHeading.tsx";
import { texts } from "../texts/texts.ts";

/**
 * Wraps every page of an organization. Every member may ask for their own permissions. If that request is denied, the member lacks the second factor
 * that the organization demands. Then a text that says so replaces the page, with a link to where the member can set up a second factor.
 */
export function SecondFactorGate() {
  const { organizationId } = useParams({ from: "/app/organizations/$organizationId" });
  const { error } = useQuery(ownPermissionsQuery(organizationId));
  if (error === null || asProblem(error).code !== "AuthorizationError") return <Outlet />;
  const words = texts.secondFactorDemand;
  return (
    <>
      <PageHeading title={words.missingTitle} />
      <p>{words.missing}</p>
      <p>
        <Link to="/app/account/second-factor">{words.setUp}</Link>
      </p>
    </>
  );
}
