import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { failingDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { newPerson, rightPassword } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, type Owner, signInAt, submitAndWait } from "./support/people.ts";

const browser = testBrowser();

// The look of a page does not depend on the store.
describe("in their normal appearance", () => {
  const service = useService(postgresHome);

  /**
   * An organization with something to show on every page: a waiting job, a failed job, a tag, an API token, a role, an OAuth client and an invitation.
   * Some of their texts are long.
   */
  async function busyOwner() {
    const owner = await newOwner(service);
    const { workflowId, versionId } = await deploy(owner.api, waitingDefinition, "order-approval");
    const failing = await deploy(owner.api, failingDefinition, "order-fulfilment");
    await submitAndWait(owner.api, workflowId);
    const { jobId } = await submitAndWait(owner.api, failing.workflowId);
    const body = { name: "pipeline", permissions: ["job:submit"] };
    const { tokenId } = (await owner.api.call<{ tokenId: string }>("CreateApiToken", { body })).body;
    const description =
      "Releases workflow versions to production, after somebody else has approved the change. ".repeat(2);
    await owner.api.call("CreateRole", { body: { name: "releaser", description, permissions: ["job:read"] } });
    const redirectUris = ["app", "staging", "preview"].map((name) => `https://${name}.example.org/signed-in`);
    await owner.api.call("CreateOAuthClient", { body: { name: "Shop", redirectUris } });
    const roles = ["owner", "developer", "operator", "viewer", "ci", "releaser"];
    await owner.api.call("CreateInvitation", { body: { roles } });
    return { owner, shownThings: { workflowId, versionId, jobId, tokenId } };
  }

  inWholeMatrix(() => {
    test.each(["light", "dark"] as const)("every page follows the accessibility rules in %s", async (colorScheme) => {
      const { owner, shownThings } = await busyOwner();
      const page = await browser.newPage({ colorScheme });
      await signInAt(page, owner.url, owner);
      for (const { path, shown } of pagesOf(shownThings)) {
        await goTo(page, owner, path);
        await shown(page);
        await expectAccessible(page, `${path} in ${colorScheme}`);
      }
      await page.getByRole("button", { name: "Theme" }).click();
      await page.getByRole("menu").waitFor();
      await expectAccessible(page, "a menu");
    });
  });

  inWholeMatrix(() => {
    test("every page for signing in and out follows the accessibility rules, and is no wider than a telephone", async () => {
      browser.expectFault(/40[14]/);
      const owner = await newOwner(service);
      const member = await newPerson(service);
      await service.addMember(owner.organizationId, member.userId, ["viewer"]);
      const invitation = await owner.api.call<{ link: string }>("CreateInvitation", { body: { roles: ["viewer"] } });
      const params = { userId: member.userId };
      const password = await owner.api.call<{ link: string }>("CreatePasswordLink", { params });
      const page = await browser.newPage({ width: 360 });
      const look = async (heading: string) => {
        await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          await expectAccessible(page, `${heading} in ${colorScheme}`);
        }
        expect(await page.evaluate("document.documentElement.scrollWidth"), heading).toBeLessThanOrEqual(360);
      };
      const press = async (button: string) => await page.getByRole("button", { name: button, exact: true }).click();
      await page.goto(await deviceAddress(service.baseUrl));
      await look("Authorize device");
      await press("Continue");
      await look("Authorize this device?");
      await press("Authorize device");
      await page.getByLabel("E-mail").fill(owner.email);
      await page.getByLabel("Password").fill("not the password");
      await press("Sign in");
      await page.getByRole("alert").waitFor();
      await look("Sign in");
      await page.getByLabel("Password").fill(rightPassword);
      await press("Sign in");
      await look("The device is signed in");
      await page.goto(`${service.baseUrl}/oidc/session/end`);
      await look("Sign out?");
      await press("Sign out");
      await look("You are signed out");
      await page.goto(invitation.body.link);
      await look("Join Acme");
      await page.goto(password.body.link);
      await look("Choose a password");
      await page.goto(`${service.baseUrl}/set-password?link=unknown`);
      await look("This link does not work");
    });
  });

  // `npm test` runs only this test of the file. So this test must also cover the dark theme and the width of a telephone.
  test("every page is no wider than a telephone, cuts off no name in its tables, and follows the accessibility rules", async () => {
    const { owner, shownThings } = await busyOwner();
    const page = await browser.newPage({ width: 360, colorScheme: "dark" });
    const files = new Set<string | undefined>();
    page.on("request", (request) => files.add(/\/(\w+)-[^/]*\.js$/.exec(request.url())?.[1]));
    await signInAt(page, owner.url, owner);
    for (const { path, shown } of pagesOf(shownThings)) {
      await goTo(page, owner, path);
      await shown(page);
      expect.soft(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(360);
      expect.soft(await page.evaluate(cutOff), path).toEqual([]);
      await expectAccessible(page, `${path} on a telephone`);
    }
    expect(lazyPages().filter((name) => !files.has(name))).toEqual([]);
  });
});

inWholeMatrix(() => {
  describe("a page with little space", () => {
    const service = useService(postgresHome);

    test("a long name takes at most four lines, and the bar on top has two lines and scrolls away on a low screen", async () => {
      const owner = await newOwner(service, "an-organization-with-a-long-name");
      const long = "long".repeat(64);
      const { workflowId } = await deploy(owner.api, waitingDefinition, long);
      const page = await browser.newPage({ width: 360 });
      await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
      const heading = page.getByRole("heading", { name: long });
      expect((await heading.boundingBox())?.height).toBeLessThan(120);
      // At 320 pixels, as at a zoom of 400 %, the links need one more line.
      for (const [width, most] of [[360, 100] as const, [320, 120] as const]) {
        await page.setViewportSize({ width, height: 800 });
        expect((await page.locator(".top-bar").boundingBox())?.height, String(width)).toBeLessThan(most);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      }
      await page.setViewportSize({ width: 320, height: 256 });
      await page.getByRole("heading", { name: "Latest jobs" }).scrollIntoViewIfNeeded();
      await expect.poll(async () => (await page.locator(".top-bar").boundingBox())?.y).toBeLessThan(-50);
    });
  });
});

/**
 * This is text, since it runs in the page. It returns the names of rows, and the values in folds, that are partly hidden. It leaves out the values of
 * columns that the table marks as long.
 */
const cutOff = `[
  ...[...document.querySelectorAll("td:first-child > .table-cell")]
    .filter(({ scrollHeight, clientHeight, scrollWidth, clientWidth }) => scrollHeight > clientHeight || scrollWidth > clientWidth),
  ...[...document.querySelectorAll(".table-fold > :not(.table-fold-long)")]
    .filter((value) => value.getBoundingClientRect().bottom > value.parentElement.getBoundingClientRect().bottom + 1),
].map(({ innerText }) => innerText)`;

/** Begins a sign-in as the command line does, and returns the address at which a person confirms it. */
async function deviceAddress(baseUrl: string): Promise<string> {
  const body = new URLSearchParams({ client_id: "stepwell-cli", scope: "openid profile email offline_access" });
  const response = await fetch(`${baseUrl}/oidc/device/auth`, { method: "POST", body });
  const begun = (await response.json()) as { readonly verification_uri_complete: string };
  return begun.verification_uri_complete;
}

interface ShownPage {
  /** The path below the organization's address. */
  readonly path: string;
  /** Waits for an element that shows that the page is complete. */
  readonly shown: (page: Page) => Promise<void>;
}

function shownBy(
  path: string,
  role: "button" | "cell" | "heading" | "link" | "progressbar" | "textbox",
  name: string | RegExp,
): ShownPage {
  return { path, shown: async (page) => await page.getByRole("main").getByRole(role, { name }).first().waitFor() };
}

interface ShownThings {
  readonly workflowId: string;
  readonly versionId: string;
  readonly jobId: string;
  readonly tokenId: string;
}

/** All pages of the router, and an address without a page. The element for which `shown` waits must not be on the previous page of this list. */
function pagesOf({ workflowId, versionId, jobId, tokenId }: ShownThings): readonly ShownPage[] {
  return [
    shownBy("", "cell", /InputMismatch/),
    shownBy("/workflows", "cell", /v1/),
    shownBy(`/workflows/${workflowId}`, "link", "Version 1"),
    shownBy(`/workflows/${workflowId}/versions/${versionId}`, "heading", "Definition"),
    shownBy("/task-queues", "heading", "Task queues"),
    shownBy(`/workflows/${workflowId}/edit`, "textbox", "Definition"),
    shownBy(`/workflows/${workflowId}/tag-history?tag=$LIVE`, "heading", /\$LIVE/),
    shownBy("/jobs", "cell", /InputMismatch/),
    shownBy(`/jobs/${jobId}`, "heading", "History"),
    shownBy("/task-queues/thumbnails", "heading", "thumbnails"),
    // The first tab that the person may see is shown.
    shownBy("/settings", "cell", "pipeline"),
    shownBy(`/settings/api-tokens/${tokenId}`, "heading", "pipeline"),
    shownBy("/settings/members", "button", /^Change the roles of/),
    shownBy("/settings/invitations", "cell", "viewer"),
    shownBy("/settings/roles", "cell", "developer"),
    shownBy("/settings/oauth-clients", "heading", "Applications"),
    shownBy("/settings/sign-in-providers", "heading", "Sign-in providers"),
    shownBy("/settings/audit", "cell", "CreateApiToken"),
    shownBy("/settings/limits", "progressbar", /API tokens/),
    shownBy("/../../account", "textbox", "Name that people see"),
    shownBy("/../../account/password", "textbox", "Current password"),
    shownBy("/../../account/second-factor", "button", "Set up"),
    shownBy("/../../account/sessions", "cell", /this one/),
    shownBy("/../../account/tokens", "heading", "User tokens"),
    shownBy("/../../account/activity", "cell", "Signed in"),
    shownBy("/../../invitations/a-code", "button", "Accept invitation"),
    shownBy("/nothing-here", "heading", "There is no such page"),
  ];
}

/** Returns the names of the files with pages that the router loads when they are first needed. */
function lazyPages(): readonly string[] {
  const router = readFileSync(resolve(import.meta.dirname, "../../src/router.tsx"), "utf8");
  return [...router.matchAll(/import\("\.\/pages\/[^"]*?(\w+)\.tsx"\)/g)].map(([, name = ""]) => name);
}

/** Changes the address within the page, as a link does, so that no new sign-in is needed. */
async function goTo(page: Page, { url }: Owner, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, "", ${JSON.stringify(url + path)}); dispatchEvent(new PopStateEvent("popstate"))`,
  );
}
