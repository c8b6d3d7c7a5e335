import type { Page } from "playwright-core";
import { password } from "./people.ts";
import type { Story } from "./story.ts";

export interface DashboardPage {
  readonly name: string;
  /** The path below `/app`. */
  readonly path: string;
  /** Does what the picture needs, such as opening a dialog, and waits until the page is complete. */
  readonly isReady: (page: Page) => Promise<void>;
  /**
   * Whether the picture shows only the part that is visible without scrolling, because of a dialog or because rows are drawn only when they are
   * visible.
   */
  readonly isWindow?: boolean;
}

type Role = "heading" | "cell" | "button" | "link" | "textbox" | "region";

const shows = (role: Role, name: string | RegExp) => async (page: Page) =>
  await page.getByRole("main").getByRole(role, { name }).first().waitFor();
const says = (text: string | RegExp) => async (page: Page) =>
  await page.getByRole("main").getByText(text).first().waitFor();

/** Every page of an organization except its settings, and the dialogs that these pages open. */
export function organizationPages(story: Story): DashboardPage[] {
  const { organization, emptyOrganization, workflow, version, jobs } = story;
  const graph = async (page: Page) => await page.locator("[data-step]").first().waitFor();
  return [
    { name: "home", path: organization, isReady: shows("cell", /courier/) },
    { name: "home-empty", path: emptyOrganization, isReady: says("Begin with a workflow") },
    { name: "workflows", path: `${organization}/workflows`, isReady: shows("link", "refund") },
    { name: "workflows-empty", path: `${emptyOrganization}/workflows`, isReady: shows("heading", "Workflows") },
    { name: "workflow", path: workflow, isReady: shows("link", "Version 1") },
    { name: "version", path: version, isReady: graph },
    { name: "tag-history", path: `${workflow}/tag-history`, isReady: shows("cell", /3/) },
    { name: "editor", path: `${workflow}/edit`, isReady: says("The definition is valid") },
    { name: "jobs", path: `${organization}/jobs`, isReady: shows("cell", "Waiting"), isWindow: true },
    { name: "jobs-empty", path: `${emptyOrganization}/jobs`, isReady: says("npx stepwell submit") },
    ...Object.entries(jobs).map(([name, path]) => ({ name: `job-${name}`, path, isReady: graph })),
    { name: "job-list", path: jobs.waiting, isReady: showAsList },
    { name: "task-queues", path: `${organization}/task-queues`, isReady: shows("link", "thumbnails") },
    { name: "task-queues-empty", path: `${emptyOrganization}/task-queues`, isReady: says("No task queue yet") },
    { name: "task-queue", path: `${organization}/task-queues/thumbnails`, isReady: shows("link", "stepwell-task") },
    { name: "not-found", path: `${organization}/nothing-here`, isReady: says("There is no such page") },
    { name: "job-not-found", path: `${organization}/jobs/${unknownId}`, isReady: says("Not found") },
    { name: "dialog-new-workflow", path: `${organization}/workflows`, isReady: opens("New workflow"), isWindow: true },
    { name: "dialog-submit", path: workflow, isReady: opens("Submit a job"), isWindow: true },
    { name: "dialog-move-tag", path: workflow, isReady: opens(/^Move/), isWindow: true },
    { name: "dialog-event", path: jobs.waiting, isReady: opens("Send an event"), isWindow: true },
    { name: "dialog-pause", path: `${organization}/task-queues/thumbnails`, isReady: opens("Pause"), isWindow: true },
    { name: "dialog-cancel", path: jobs.waiting, isReady: opens("Cancel job"), isWindow: true },
  ];
}

export function settingsPages({ organization, token }: Story): DashboardPage[] {
  const settings = `${organization}/settings`;
  return [
    { name: "settings-api-tokens", path: `${settings}/api-tokens`, isReady: shows("cell", "grafana") },
    { name: "settings-api-token", path: token, isReady: shows("heading", "github-actions-deploy") },
    { name: "settings-members", path: `${settings}/members`, isReady: shows("button", /^Change the roles of/) },
    { name: "settings-invitations", path: `${settings}/invitations`, isReady: shows("cell", "finance@acme.example") },
    { name: "settings-roles", path: `${settings}/roles`, isReady: shows("button", "Create role") },
    { name: "settings-applications", path: `${settings}/oauth-clients`, isReady: shows("cell", "Order desk") },
    {
      name: "settings-sign-in",
      path: `${settings}/sign-in-providers`,
      isReady: says("People sign in with a password"),
    },
    { name: "settings-audit", path: `${settings}/audit`, isReady: shows("cell", "CreateApiToken") },
    { name: "settings-limits", path: `${settings}/limits`, isReady: says(/Waiting requests/) },
    { name: "dialog-create-token", path: `${settings}/api-tokens`, isReady: opens("Create token"), isWindow: true },
    { name: "dialog-change-token", path: token, isReady: opens("Change"), isWindow: true },
    { name: "dialog-invite", path: `${settings}/invitations`, isReady: opens("Invite"), isWindow: true },
    { name: "dialog-create-application", path: `${settings}/oauth-clients`, isReady: opens("Create"), isWindow: true },
    { name: "dialog-create-role", path: `${settings}/roles`, isReady: opens("Create role"), isWindow: true },
    {
      name: "dialog-change-roles",
      path: `${settings}/members`,
      isReady: opens(/^Change the roles of/),
      isWindow: true,
    },
    { name: "dialog-audit-entry", path: `${settings}/audit`, isReady: opens(/^Details of/), isWindow: true },
  ];
}

/** The account pages of a user without a second factor. */
export const accountPages: readonly DashboardPage[] = [
  { name: "account", path: "/account", isReady: shows("textbox", "Name that people see") },
  { name: "account-password", path: "/account/password", isReady: shows("textbox", "Current password") },
  { name: "account-second-factor", path: "/account/second-factor", isReady: shows("button", "Set up") },
  { name: "account-second-factor-setup", path: "/account/second-factor", isReady: beginSecondFactor },
  { name: "account-sessions", path: "/account/sessions", isReady: shows("cell", /this one/) },
  { name: "account-tokens", path: "/account/tokens", isReady: shows("cell", "first token") },
  { name: "account-activity", path: "/account/activity", isReady: shows("cell", "Signed in") },
  {
    name: "accept-invitation",
    path: "/invitations/the-end-of-its-link",
    isReady: shows("button", "Accept invitation"),
  },
];

/** The account pages of a user with a second factor. */
export const guardedAccountPages: readonly DashboardPage[] = [
  { name: "account-second-factor-on", path: "/account/second-factor", isReady: shows("button", /Turn off|recovery/i) },
];

/** The editor with a problem is opened last, since it asks for confirmation when the user leaves it. */
export function unsavedPages({ workflow }: Story): DashboardPage[] {
  return [{ name: "editor-problem", path: `${workflow}/edit`, isReady: breakDefinition }];
}

const unknownId = "01900000-0000-7000-8000-000000000000";

async function beginSecondFactor(page: Page): Promise<void> {
  await page.getByLabel("Your password").fill(password);
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByLabel("Code of the app").waitFor();
  await page.locator(".qr-code svg").waitFor();
}

function opens(button: string | RegExp) {
  return async (page: Page) => {
    const found = page.getByRole("main").getByRole("button", { name: button, exact: typeof button === "string" });
    await found.first().click();
    await page.getByRole("dialog").waitFor();
  };
}

async function showAsList(page: Page): Promise<void> {
  await page.getByRole("radio", { name: "List" }).click();
  await page.getByRole("table", { name: "Steps of the workflow" }).waitFor();
}

/** Makes a typical typo in a reference. */
async function breakDefinition(page: Page): Promise<void> {
  await page.getByText("The definition is valid").waitFor();
  await page.getByRole("radio", { name: "Graph" }).click();
  await page.locator(".cm-line", { hasText: '"#/definitions/order"' }).first().click();
  await page.keyboard.press("End");
  await page.keyboard.press("Backspace");
  await page.keyboard.type('s"');
  await page
    .getByText(/^\d+ errors?$/)
    .first()
    .waitFor();
  await page.keyboard.press("Escape");
}
