import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
} from "@tanstack/react-router";
import { executorsQuery } from "./api/executors.ts";
import { ownPermissionsQuery } from "./api/permissions.ts";
import { queryClient } from "./api/query-client.ts";
import { workflowsQuery } from "./api/workflows.ts";
import { basePath } from "./base-url.ts";
import type { Permission } from "./document.ts";
import { parseEditorSearch } from "./pages/editor/editor-search.ts";
import { parseJobPageSearch } from "./pages/job/job-page-search.ts";
import { parseJobSearch } from "./pages/jobs/job-search.ts";
import { parseAuditSearch } from "./pages/settings/audit/audit-search.ts";
import { parseTagHistorySearch } from "./pages/workflow/tag-history-search.ts";
import type { DocsPlace } from "./parts/layout/docs-addresses.ts";
import type { IconName } from "./parts/layout/Icon.tsx";
import { parseSearchText, writeSearchText } from "./search-text.ts";
import { Broken } from "./shell/Broken.tsx";
import { FirstPage } from "./shell/FirstPage.tsx";
import { NotFound } from "./shell/NotFound.tsx";
import { SecondFactorGate } from "./shell/SecondFactorGate.tsx";
import { Shell } from "./shell/Shell.tsx";
import { texts } from "./texts/texts.ts";

/**
 * The only list of pages. The address of a page about workflows, jobs or task queues is `/app` followed by the API path of what the page shows, so
 * that each can be derived from the other. Other pages, such as those of the settings, the editor and the history of a tag, have addresses of
 * their own. Everything except the shell is loaded when it is first needed. A page with a `tab` is among the tabs of its layout, and a page with a
 * `link` is in the bar on top. Tabs and links have the order of this list.
 */
const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Broken });

const account = createRoute({
  getParentRoute: () => root,
  path: "/app/account",
  component: lazyRouteComponent(() => import("./pages/settings/account/AccountLayout.tsx"), "AccountLayout"),
});

const accountPage = <Path extends string>(path: Path, tab: string, component: RouteComponent) =>
  createRoute({ getParentRoute: () => account, path, staticData: { tab }, component });

const accountTabs = texts.account;
const accountPages = [
  accountPage(
    "/",
    accountTabs.profile,
    lazyRouteComponent(() => import("./pages/settings/account/ProfilePage.tsx"), "ProfilePage"),
  ),
  accountPage(
    "password",
    accountTabs.password,
    lazyRouteComponent(() => import("./pages/settings/account/PasswordPage.tsx"), "PasswordPage"),
  ),
  accountPage(
    "second-factor",
    accountTabs.secondFactor,
    lazyRouteComponent(() => import("./pages/settings/account/SecondFactorPage.tsx"), "SecondFactorPage"),
  ),
  accountPage(
    "sessions",
    accountTabs.sessions,
    lazyRouteComponent(() => import("./pages/settings/account/SessionsPage.tsx"), "SessionsPage"),
  ),
  accountPage(
    "tokens",
    accountTabs.tokens,
    lazyRouteComponent(() => import("./pages/settings/account/UserTokensPage.tsx"), "UserTokensPage"),
  ),
  accountPage(
    "activity",
    accountTabs.activity,
    lazyRouteComponent(() => import("./pages/settings/account/ActivityPage.tsx"), "ActivityPage"),
  ),
] as const;

const organization = createRoute({
  getParentRoute: () => root,
  path: "/app/organizations/$organizationId",
  component: SecondFactorGate,
  // The permissions are requested while the page's script is being loaded, since nearly every page needs them first.
  loader: ({ params }) => void queryClient.prefetchQuery(ownPermissionsQuery(params.organizationId)),
});
const inOrganization = () => organization;

const settings = createRoute({
  getParentRoute: inOrganization,
  path: "settings",
  staticData: { link: { text: texts.shell.settings, icon: "settings" } },
  component: lazyRouteComponent(() => import("./pages/settings/SettingsLayout.tsx"), "SettingsLayout"),
});
const inSettings = () => settings;

const settingsPage = <Path extends string>(
  path: Path,
  tab: string,
  permission: Permission,
  docs: DocsPlace,
  component: RouteComponent,
) => createRoute({ getParentRoute: inSettings, path, staticData: { tab, permission, docs }, component });

const settingsTabs = texts.settings;
const settingsPages = [
  createRoute({
    getParentRoute: inSettings,
    path: "/",
    component: lazyRouteComponent(() => import("./pages/settings/FirstSettings.tsx"), "FirstSettings"),
  }),
  settingsPage(
    "api-tokens",
    settingsTabs.apiTokens,
    "apitoken:read",
    "apiTokens",
    lazyRouteComponent(() => import("./pages/settings/api-tokens/ApiTokensPage.tsx"), "ApiTokensPage"),
  ),
  createRoute({
    getParentRoute: inSettings,
    path: "api-tokens/$tokenId",
    staticData: { docs: "apiTokens" },
    component: lazyRouteComponent(() => import("./pages/settings/api-tokens/ApiTokenPage.tsx"), "ApiTokenPage"),
  }),
  settingsPage(
    "members",
    settingsTabs.members,
    "member:read",
    "members",
    lazyRouteComponent(() => import("./pages/settings/members/MembersPage.tsx"), "MembersPage"),
  ),
  settingsPage(
    "invitations",
    settingsTabs.invitations,
    "invitation:read",
    "invitations",
    lazyRouteComponent(() => import("./pages/settings/invitations/InvitationsPage.tsx"), "InvitationsPage"),
  ),
  settingsPage(
    "roles",
    settingsTabs.roles,
    "role:read",
    "roles",
    lazyRouteComponent(() => import("./pages/settings/roles/RolesPage.tsx"), "RolesPage"),
  ),
  settingsPage(
    "oauth-clients",
    settingsTabs.oauthClients,
    "oauthclient:list",
    "oauthClients",
    lazyRouteComponent(() => import("./pages/settings/oauth-clients/OAuthClientsPage.tsx"), "OAuthClientsPage"),
  ),
  settingsPage(
    "sign-in-providers",
    settingsTabs.signInProviders,
    "organization:read",
    "signInProviders",
    lazyRouteComponent(
      () => import("./pages/settings/sign-in-providers/SignInProvidersPage.tsx"),
      "SignInProvidersPage",
    ),
  ),
  createRoute({
    getParentRoute: inSettings,
    path: "audit",
    validateSearch: parseAuditSearch,
    staticData: { tab: settingsTabs.audit, permission: "audit:read", docs: "audit" },
    component: lazyRouteComponent(() => import("./pages/settings/audit/AuditPage.tsx"), "AuditPage"),
  }),
  settingsPage(
    "limits",
    settingsTabs.limits,
    "organization:read",
    "limits",
    lazyRouteComponent(() => import("./pages/settings/limits/LimitsPage.tsx"), "LimitsPage"),
  ),
] as const;

/** Requests the executors while the script of a page that shows steps is being loaded. */
const showsSteps = { loader: () => void queryClient.prefetchQuery(executorsQuery) };

const organizationPages = [
  createRoute({
    getParentRoute: inOrganization,
    path: "/",
    staticData: { link: { text: texts.shell.home, icon: "home" } },
    loader: ({ params }) => void queryClient.prefetchInfiniteQuery(workflowsQuery(params.organizationId)),
    component: lazyRouteComponent(() => import("./pages/home/HomePage.tsx"), "HomePage"),
  }),
  createRoute({
    getParentRoute: inOrganization,
    path: "workflows",
    staticData: { link: { text: texts.shell.workflows, icon: "workflow" } },
    component: lazyRouteComponent(() => import("./pages/workflows/WorkflowsPage.tsx"), "WorkflowsPage"),
  }),
  createRoute({
    getParentRoute: inOrganization,
    path: "workflows/$workflowId",
    component: lazyRouteComponent(() => import("./pages/workflow/WorkflowPage.tsx"), "WorkflowPage"),
  }),
  createRoute({
    getParentRoute: inOrganization,
    path: "workflows/$workflowId/edit",
    ...showsSteps,
    validateSearch: parseEditorSearch,
    component: lazyRouteComponent(() => import("./pages/editor/EditorPage.tsx"), "EditorPage"),
  }),
  createRoute({
    getParentRoute: inOrganization,
    path: "workflows/$workflowId/tag-history",
    validateSearch: parseTagHistorySearch,
    component: lazyRouteComponent(() => import("./pages/workflow/TagHistoryPage.tsx"), "TagHistoryPage"),
  }),
  createRoute({
    getParentRoute: inOrganization,
    path: "workflows/$workflowId/versions/$versionId",
    ...showsSteps,
    component: lazyRouteComponent(() => import("./pages/workflow/VersionPage.tsx"), "VersionPage"),
  }),
  createRoute({
    getParentRoute: inOrganization,
    path: "jobs",
    staticData: { link: { text: texts.shell.jobs, icon: "job" } },
    validateSearch: parseJobSearch,
    component: lazyRouteComponent(() => import("./pages/jobs/JobsPage.tsx"), "JobsPage"),
  }),
  createRoute({
    getParentRoute: inOrganization,
    path: "jobs/$jobId",
    ...showsSteps,
    validateSearch: parseJobPageSearch,
    component: lazyRouteComponent(() => import("./pages/job/JobPage.tsx"), "JobPage"),
  }),
  createRoute({
    getParentRoute: inOrganization,
    path: "task-queues",
    staticData: { link: { text: texts.shell.taskQueues, icon: "queue" } },
    component: lazyRouteComponent(() => import("./pages/task-queues/TaskQueuesPage.tsx"), "TaskQueuesPage"),
  }),
  createRoute({
    getParentRoute: inOrganization,
    path: "task-queues/$queue",
    component: lazyRouteComponent(() => import("./pages/task-queue/TaskQueuePage.tsx"), "TaskQueuePage"),
  }),
  settings.addChildren(settingsPages),
] as const;

const routes = root.addChildren([
  createRoute({ getParentRoute: () => root, path: "/", component: FirstPage }),
  createRoute({ getParentRoute: () => root, path: "/app", component: FirstPage }),
  createRoute({
    getParentRoute: () => root,
    path: "/app/invitations/$code",
    component: lazyRouteComponent(() => import("./pages/invitation/InvitationPage.tsx"), "InvitationPage"),
  }),
  account.addChildren(accountPages),
  organization.addChildren(organizationPages),
]);

export function createAppRouter() {
  makePathReadable();
  return createRouter({
    routeTree: routes,
    basepath: basePath === "" ? "/" : basePath,
    // The script of a page is loaded as soon as the pointer reaches a link to the page.
    defaultPreload: "intent",
    defaultErrorComponent: Broken,
    scrollRestoration: true,
    parseSearch: parseSearchText,
    stringifySearch: writeSearchText,
  });
}

/**
 * The router fails on a path with a malformed percent-escape. So each `%` of such a path is escaped. Nothing exists at the new path, and the reader
 * is told so.
 */
function makePathReadable(): void {
  const { pathname, search, hash } = window.location;
  try {
    decodeURIComponent(pathname);
  } catch {
    window.history.replaceState(null, "", pathname.replaceAll("%", "%25") + search + hash);
  }
}

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    /** The text of the page's tab in the layout around it, if it has one. */
    readonly tab?: string;
    /** The permission that the main part of the page needs, if it needs one. */
    readonly permission?: Permission;
    /** The place in the documentation that explains the page, if the layout around the page shows the link to it. */
    readonly docs?: DocsPlace;
    /** The page's link in the bar on top, if it has one. */
    readonly link?: { readonly text: string; readonly icon: IconName };
  }
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
