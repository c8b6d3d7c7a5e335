import { Outlet } from "@tanstack/react-router";
import { PageHeading } from "../../parts/PageHeading.tsx";
import { RouteTabs } from "../../parts/RouteTabs.tsx";
import { texts } from "../../texts/texts.ts";

/** The organization's settings: one page for each kind of thing. */
export function SettingsLayout() {
  const words = texts.settings;
  return (
    <>
      <PageHeading title={words.title} />
      <RouteTabs label={words.navigation} of="/app/organizations/$organizationId/settings" />
      <Outlet />
    </>
  );
}
