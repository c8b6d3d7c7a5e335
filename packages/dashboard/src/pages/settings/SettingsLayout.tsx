import { Link, Outlet, useParams } from "@tanstack/react-router";
import { LinkTabs } from "../../parts/LinkTabs.tsx";
import { PageHeading } from "../../parts/PageHeading.tsx";
import { texts } from "../../texts/texts.ts";

const base = "/app/organizations/$organizationId/settings";

/** The organization's settings: one page for each kind of thing. */
export function SettingsLayout() {
  const params = useParams({ from: "/app/organizations/$organizationId" });
  const words = texts.settings;
  return (
    <>
      <PageHeading title={words.title} />
      <LinkTabs label={words.navigation}>
        <Link to={`${base}/api-tokens`} params={params}>
          {words.apiTokens}
        </Link>
        <Link to={`${base}/members`} params={params}>
          {words.members}
        </Link>
        <Link to={`${base}/invitations`} params={params}>
          {words.invitations}
        </Link>
        <Link to={`${base}/roles`} params={params}>
          {words.roles}
        </Link>
        <Link to={`${base}/sign-in-providers`} params={params}>
          {words.signInProviders}
        </Link>
        <Link to={`${base}/audit`} params={params}>
          {words.audit}
        </Link>
        <Link to={`${base}/rate-limits`} params={params}>
          {words.rateLimits}
        </Link>
      </LinkTabs>
      <Outlet />
    </>
  );
}
