import { Link, useParams } from "@tanstack/react-router";
import "./TopBar.css";
import { Icon } from "../parts/layout/Icon.tsx";
import { texts } from "../texts/texts.ts";
import { AccountMenu } from "./AccountMenu.tsx";
import { OrganizationSwitcher } from "./OrganizationSwitcher.tsx";
import { ThemeMenu } from "./ThemeMenu.tsx";

export function TopBar() {
  const { organizationId } = useParams({ strict: false });
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
          <ThemeMenu />
          <AccountMenu />
        </div>
      </div>
    </header>
  );
}

function Navigation({ organizationId }: { readonly organizationId: string }) {
  const params = { organizationId };
  const { shell } = texts;
  return (
    <nav className="navigation" aria-label={shell.navigation}>
      <Link to="/app/organizations/$organizationId" params={params} activeOptions={{ exact: true }}>
        <Icon name="home" />
        {shell.home}
      </Link>
      <Link to="/app/organizations/$organizationId/workflows" params={params}>
        <Icon name="workflow" />
        {shell.workflows}
      </Link>
      <Link to="/app/organizations/$organizationId/jobs" params={params}>
        <Icon name="job" />
        {shell.jobs}
      </Link>
      <Link to="/app/organizations/$organizationId/settings" params={params}>
        <Icon name="settings" />
        {shell.settings}
      </Link>
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
