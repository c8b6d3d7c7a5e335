import { type AnyRoute, Link, useMatches, useRouter } from "@tanstack/react-router";
import "./RouteTabs.css";

interface RouteTabsProps {
  readonly label: string;
  /** The layout whose pages are shown as tabs. */
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
        // The first page has the path of the layout, with which all other paths begin. So it is the current page only if the address ends there.
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

export function useShownTab(): string | undefined {
  return useMatches({ select: (matches) => matches.at(-1)?.staticData.tab });
}
