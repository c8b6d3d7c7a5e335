import { Outlet, useMatches } from "@tanstack/react-router";
import { RouteTabs, useShownTab } from "../../parts/controls/RouteTabs.tsx";
import type { DocsPlace } from "../../parts/layout/docs-addresses.ts";
import { PageHeading } from "../../parts/layout/PageHeading.tsx";
import { texts } from "../../texts/texts.ts";

/** The organization's settings: one page for each kind of thing. */
export function SettingsLayout() {
  const words = texts.settings;
  return (
    <>
      <PageHeading title={words.title} docs={useShownDocs()} tab={[useShownTab(), words.title]} />
      <RouteTabs label={words.navigation} of="/app/organizations/$organizationId/settings" />
      <Outlet />
    </>
  );
}

/** Returns the place in the documentation that explains the page below the tabs. */
function useShownDocs(): DocsPlace | undefined {
  return useMatches({ select: (matches) => matches.at(-1)?.staticData.docs });
}
