import { Link, Outlet } from "@tanstack/react-router";
import { LinkTabs } from "../../../parts/LinkTabs.tsx";
import { PageHeading } from "../../../parts/PageHeading.tsx";
import { texts } from "../../../texts/texts.ts";

/** What belongs to the person and to no organization. */
export function AccountLayout() {
  const words = texts.account;
  return (
    <>
      <PageHeading title={words.title} />
      <LinkTabs label={words.navigation}>
        <Link to="/app/account" activeOptions={{ exact: true }}>
          {words.profile}
        </Link>
        <Link to="/app/account/password">{words.password}</Link>
        <Link to="/app/account/second-factor">{words.secondFactor}</Link>
        <Link to="/app/account/sessions">{words.sessions}</Link>
        <Link to="/app/account/tokens">{words.tokens}</Link>
        <Link to="/app/account/activity">{words.activity}</Link>
      </LinkTabs>
      <Outlet />
    </>
  );
}
