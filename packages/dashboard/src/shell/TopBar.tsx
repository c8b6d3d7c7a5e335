import { useQuery } from "@tanstack/react-query";
import { type AnyRoute, Link, type StaticDataRouteOption, useParams, useRouter } from "@tanstack/react-router";
import "./TopBar.css";
import { organizationsQuery } from "../api/organizations.ts";
import { DocsLink } from "../parts/layout/DocsLink.tsx";
import { Icon } from "../parts/layout/Icon.tsx";
import { texts } from "../texts/texts.ts";
import { AccountMenu } from "./AccountMenu.tsx";
import { lastOf } from "./last-organization.ts";
import { OrganizationSwitcher } from "./OrganizationSwitcher.tsx";
import { ThemeMenu } from "./ThemeMenu.tsx";

export function TopBar() {
  const organizationId = useShownOrganization();
  return (
    <header className="top-bar">
      <div className="top-bar-content">
        <Link to="/" className="brand">
          <Logo />
          <span className="brand-name">{texts.shell.product}</span>
        </Link>
        <OrganizationSwitcher organizationId={organizationId} />
        {organizationId !== undefined && <Navigation organizationId={organizationId} />}
        <div className="top-bar-end">
          <DocsLink to="index" className="button button-quiet" />
          <ThemeMenu />
          <AccountMenu />
        </div>
      </div>
    </header>
  );
}

/** Returns the organization of the page. If the page belongs to none, returns the organization that was last open, or else the first. */
function useShownOrganization(): string | undefined {
  const { organizationId } = useParams({ strict: false });
  const { data: organizations } = useQuery(organizationsQuery);
  return organizationId ?? (organizations && lastOf(organizations)?.organizationId);
}

/** Links to the pages of an organization that have a `link`, in the order of the list of pages (`router.tsx`). */
function Navigation({ organizationId }: { readonly organizationId: string }) {
  const { routesById } = useRouter();
  const pages = (routesById["/app/organizations/$organizationId"].children ?? []) as readonly AnyRoute[];
  return (
    <nav className="navigation" aria-label={texts.shell.navigation}>
      {pages.map(({ fullPath, options }) => {
        const { link } = (options.staticData ?? {}) as StaticDataRouteOption;
        if (link === undefined) return null;
        // All other paths begin with the path of the first page. So the first page is the current page only if the address ends there.
        return (
          <Link
            key={fullPath}
            to={fullPath.replace("$organizationId", organizationId)}
            activeOptions={{ exact: fullPath.endsWith("/") }}
          >
            <Icon name={link.icon} />
            {link.text}
          </Link>
        );
      })}
    </nav>
  );
}

function Logo() {
  return (
    <svg className="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path d="M6 9h20v4h-4v4h-4v4h-4v4h-4v-4h4v-4h4v-4h4v-4H6z" />
    </svg>
  );
}
