import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { ownPermissionsQuery } from "./api/permissions.ts";
import { queryClient } from "./api/query-client.ts";
import { workflowsQuery } from "./api/workflows.ts";
import { basePath } from "./base-url.ts";
import { parseEditorSearch } from "./pages/editor/editor-search.ts";
import { parseJobPageSearch } from "./pages/job/job-page-search.ts";
import { parseJobSearch } from "./pages/jobs/job-search.ts";
import { parseAuditSearch } from "./pages/settings/audit/audit-search.ts";
import { parseTagHistorySearch } from "./pages/workflow/tag-history-search.ts";
import { parseSearchText, writeSearchText } from "./search-text.ts";
import { Broken } from "./shell/Broken.tsx";
import { FirstPage } from "./shell/FirstPage.tsx";
import { NotFound } from "./shell/NotFound.tsx";
import { Shell } from "./shell/Shell.tsx";

/**
 * The address of a page is `/app` and the path of what it shows in the API, so that one can be made from the other. Everything but the shell
 * is loaded when it is first shown.
 */
const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Broken });

const first = createRoute({ getParentRoute: () => root, path: "/", component: FirstPage });
const app = createRoute({ getParentRoute: () => root, path: "/app", component: FirstPage });
const account = createRoute({
  getParentRoute: () => root,
  path: "/app/account",
  component: lazyRouteComponent(() => import("./pages/settings/account/AccountLayout.tsx"), "AccountLayout"),
});
const inAccount = () => account;

const profile = createRoute({
  getParentRoute: inAccount,
  path: "/",
  component: lazyRouteComponent(() => import("./pages/settings/account/ProfilePage.tsx"), "ProfilePage"),
});
const password = createRoute({
  getParentRoute: inAccount,
  path: "password",
  component: lazyRouteComponent(() => import("./pages/settings/account/PasswordPage.tsx"), "PasswordPage"),
});
const secondFactor = createRoute({
  getParentRoute: inAccount,
  path: "second-factor",
  component: lazyRouteComponent(() => import("./pages/settings/account/SecondFactorPage.tsx"), "SecondFactorPage"),
});
const sessions = createRoute({
  getParentRoute: inAccount,
  path: "sessions",
  component: lazyRouteComponent(() => import("./pages/settings/account/SessionsPage.tsx"), "SessionsPage"),
});
const userTokens = createRoute({
  getParentRoute: inAccount,
  path: "tokens",
  component: lazyRouteComponent(() => import("./pages/settings/account/UserTokensPage.tsx"), "UserTokensPage"),
});
const activity = createRoute({
  getParentRoute: inAccount,
  path: "activity",
  component: lazyRouteComponent(() => import("./pages/settings/account/ActivityPage.tsx"), "ActivityPage"),
});

const organization = createRoute({
  getParentRoute: () => root,
  path: "/app/organizations/$organizationId",
  // Asked for while the page's script is on its way: nearly every page needs it first.
  loader: ({ params }) => void queryClient.prefetchQuery(ownPermissionsQuery(params.organizationId)),
});
const inOrganization = () => organization;

const home = createRoute({
  getParentRoute: inOrganization,
  path: "/",
  loader: ({ params }) => void queryClient.prefetchInfiniteQuery(workflowsQuery(params.organizationId)),
  component: lazyRouteComponent(() => import("./pages/home/HomePage.tsx"), "HomePage"),
});
const workflows = createRoute({
  getParentRoute: inOrganization,
  path: "workflows",
  component: lazyRouteComponent(() => import("./pages/workflows/WorkflowsPage.tsx"), "WorkflowsPage"),
});
const workflow = createRoute({
  getParentRoute: inOrganization,
  path: "workflows/$workflowId",
  component: lazyRouteComponent(() => import("./pages/workflow/WorkflowPage.tsx"), "WorkflowPage"),
});
const editor = createRoute({
  getParentRoute: inOrganization,
  path: "workflows/$workflowId/edit",
  validateSearch: parseEditorSearch,
  component: lazyRouteComponent(() => import("./pages/editor/EditorPage.tsx"), "EditorPage"),
});
const tagHistory = createRoute({
  getParentRoute: inOrganization,
  path: "workflows/$workflowId/tag-history",
  validateSearch: parseTagHistorySearch,
  component: lazyRouteComponent(() => import("./pages/workflow/TagHistoryPage.tsx"), "TagHistoryPage"),
});
const version = createRoute({
  getParentRoute: inOrganization,
  path: "workflows/$workflowId/versions/$versionId",
  component: lazyRouteComponent(() => import("./pages/workflow/VersionPage.tsx"), "VersionPage"),
});
const jobs = createRoute({
  getParentRoute: inOrganization,
  path: "jobs",
  validateSearch: parseJobSearch,
  component: lazyRouteComponent(() => import("./pages/jobs/JobsPage.tsx"), "JobsPage"),
});
const job = createRoute({
  getParentRoute: inOrganization,
  path: "jobs/$jobId",
  validateSearch: parseJobPageSearch,
  component: lazyRouteComponent(() => import("./pages/job/JobPage.tsx"), "JobPage"),
});
const settings = createRoute({
  getParentRoute: inOrganization,
  path: "settings",
  component: lazyRouteComponent(() => import("./pages/settings/SettingsLayout.tsx"), "SettingsLayout"),
});
const inSettings = () => settings;

const firstSettings = createRoute({
  getParentRoute: inSettings,
  path: "/",
  component: lazyRouteComponent(() => import("./pages/settings/FirstSettings.tsx"), "FirstSettings"),
});
const apiTokens = createRoute({
  getParentRoute: inSettings,
  path: "api-tokens",
  component: lazyRouteComponent(() => import("./pages/settings/api-tokens/ApiTokensPage.tsx"), "ApiTokensPage"),
});
const apiToken = createRoute({
  getParentRoute: inSettings,
  path: "api-tokens/$tokenId",
  component: lazyRouteComponent(() => import("./pages/settings/api-tokens/ApiTokenPage.tsx"), "ApiTokenPage"),
});
const members = createRoute({
  getParentRoute: inSettings,
  path: "members",
  component: lazyRouteComponent(() => import("./pages/settings/members/MembersPage.tsx"), "MembersPage"),
});
const invitations = createRoute({
  getParentRoute: inSettings,
  path: "invitations",
  component: lazyRouteComponent(() => import("./pages/settings/invitations/InvitationsPage.tsx"), "InvitationsPage"),
});
const roles = createRoute({
  getParentRoute: inSettings,
  path: "roles",
  component: lazyRouteComponent(() => import("./pages/settings/roles/RolesPage.tsx"), "RolesPage"),
});
const audit = createRoute({
  getParentRoute: inSettings,
  path: "audit",
  validateSearch: parseAuditSearch,
  component: lazyRouteComponent(() => import("./pages/settings/audit/AuditPage.tsx"), "AuditPage"),
});
const rateLimits = createRoute({
  getParentRoute: inSettings,
  path: "rate-limits",
  component: lazyRouteComponent(() => import("./pages/settings/rate-limits/RateLimitsPage.tsx"), "RateLimitsPage"),
});

const signInProviders = createRoute({
  getParentRoute: inSettings,
  path: "sign-in-providers",
  component: lazyRouteComponent(
    () => import("./pages/settings/sign-in-providers/SignInProvidersPage.tsx"),
    "SignInProvidersPage",
  ),
});

const settingsPages = [
  firstSettings,
  apiTokens,
  apiToken,
  members,
  invitations,
  roles,
  signInProviders,
  audit,
  rateLimits,
] as const;
const accountPages = [profile, password, secondFactor, sessions, userTokens, activity] as const;

const routes = root.addChildren([
  first,
  app,
  account.addChildren(accountPages),
  organization.addChildren([
    home,
    workflows,
    workflow,
    editor,
    tagHistory,
    version,
    jobs,
    job,
    settings.addChildren(settingsPages),
  ]),
]);

export function createAppRouter() {
  return createRouter({
    routeTree: routes,
    basepath: basePath === "" ? "/" : basePath,
    // A page's script is on its way when somebody points at the link.
    defaultPreload: "intent",
    defaultErrorComponent: Broken,
    scrollRestoration: true,
    parseSearch: parseSearchText,
    stringifySearch: writeSearchText,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
