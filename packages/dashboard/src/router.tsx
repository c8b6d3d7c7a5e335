import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { ownPermissionsQuery } from "./api/permissions.ts";
import { queryClient } from "./api/query-client.ts";
import { workflowsQuery } from "./api/workflows.ts";
import { basePath } from "./base-url.ts";
import { parseEditorSearch } from "./pages/editor/editor-search.ts";
import { parseJobPageSearch } from "./pages/job/job-page-search.ts";
import { parseJobSearch } from "./pages/jobs/job-search.ts";
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
const account = createRoute({ getParentRoute: () => root, path: "/app/account", component: NotFound });

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
const settings = createRoute({ getParentRoute: inOrganization, path: "settings", component: NotFound });

const routes = root.addChildren([
  first,
  app,
  account,
  organization.addChildren([home, workflows, workflow, editor, version, jobs, job, settings]),
]);

export function createAppRouter() {
  return createRouter({
    routeTree: routes,
    basepath: basePath === "" ? "/" : basePath,
    // A page's script is on its way when somebody points at the link.
    defaultPreload: "intent",
    defaultErrorComponent: Broken,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
