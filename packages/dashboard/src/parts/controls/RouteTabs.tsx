import { type AnyRoute, Link, useMatches, useRouter } from "@tanstack/react-router";
import "./RouteTabs.css";

interface RouteTabsProps {
  readonly label: string;
  /** The layout of the pages that name a tab. */
  readonly of: "/app/account" | "/app/organizations/$organizationId/settings";
}

/** The pages of a layout, as links in a row, in the order of the list of pages (`router.tsx`). */
export function RouteTabs({ label, of }: RouteTabsProps) {
  const { routesById } = useRouter();
  const pages = (routesById[of].children ?? []) as readonly AnyRoute[];
  return (
    <nav className="route-tabs" aria-label={label}>
      {pages.map(({ fullPath, options }) => {
        const tab: string | undefined = options.staticData?.tab;
        if (tab === undefined) return null;
        // The layout's own first page has the layout's path: it is current only where nothing follows.
        const isFirst = fullPath.endsWith("/");
        return (
          <Link key={fullPath} to={fullPath} params activeOptions={{ exact: isFirst }}>
            {tab}
          </Link>
        );
      })}
    </nav>
  );
}

/** The text of the tab that is shown; undefined on a page that has none. */
export function useShownTab(): string | undefined {
  return useMatches({ select: (matches) => matches.at(-1)?.staticData.tab });
}
