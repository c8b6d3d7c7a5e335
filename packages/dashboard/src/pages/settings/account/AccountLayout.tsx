import { Outlet } from "@tanstack/react-router";
import { RouteTabs, useShownTab } from "../../../parts/controls/RouteTabs.tsx";
import { PageHeading } from "../../../parts/layout/PageHeading.tsx";
import { texts } from "../../../texts/texts.ts";

/** The layout of the account pages. These are about a person, and belong to no organization. */
export function AccountLayout() {
  const words = texts.account;
  return (
    <>
      <PageHeading title={words.title} docs="account" tab={[useShownTab(), words.title]} />
      <RouteTabs label={words.navigation} of="/app/account" />
      <Outlet />
    </>
  );
}
