import { Outlet } from "@tanstack/react-router";
import { RouteTabs, useShownTab } from "../../parts/controls/RouteTabs.tsx";
import { PageHeading } from "../../parts/layout/PageHeading.tsx";
import { texts } from "../../texts/texts.ts";

/** The organization's settings: one page for each kind of thing. */
export function SettingsLayout() {
  const words = texts.settings;
  return (
    <>
      <PageHeading title={words.title} tab={[useShownTab(), words.title]} />
      <RouteTabs label={words.navigation} of="/app/organizations/$organizationId/settings" />
      <Outlet />
    </>
  );
}
