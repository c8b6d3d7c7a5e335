import { newSignedInPerson } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { limitOrganizations } from "../../../server/src/operator/accounts.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { newOwner, type Owner, sendSignIn, signInAt } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
  const service = useService(home);

  test("a token can be created by keyboard alone, is shown once, works, and is rejected after it is revoked", async () => {
    const owner = await newOwner(service);
    const page = await browser.newPage();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await signInAt(page, `${owner.url}/settings`, owner);
    await press(page, "button", "Create token");
    const form = page.getByRole("dialog", { name: "Create an API token" });
    await form.getByLabel("Name").focus();
    await page.keyboard.type("pipeline");
    await page.keyboard.press("Enter");
    await form.getByText("Choose at least one permission.").waitFor();
    await form.getByLabel("workflow:read", { exact: true }).focus();
    await page.keyboard.press("Space");
    await expectAccessible(page, "the form of a token");
    await form.getByLabel("Name").focus();
    await page.keyboard.press("Enter");

    const shown = page.getByRole("dialog", { name: "The token pipeline" });
    const token = await shown.getByRole("region", { name: "Token" }).innerText();
    await expectAccessible(page, "a token that is shown once");
    // The secret was not copied, so closing the dialog asks first.
    await page.keyboard.press("Escape");
    await shown.getByText("You have not copied it.").waitFor();
    await shown.getByRole("button", { name: "Copy", exact: true }).focus();
    await page.keyboard.press("Enter");
    await shown.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(token);
    await page.keyboard.press("Escape");
    await shown.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(token);
    const status = async () => (await listWorkflows(owner.organizationId, token)).status;
    expect(await status()).toBe(200);

    await press(page, "link", "pipeline");
    await page.getByRole("heading", { level: 2, name: "pipeline" }).waitFor();
    await expectAccessible(page, "a token's page");
    await press(page, "button", "Revoke");
    await press(page.getByRole("dialog", { name: "Revoke pipeline?" }), "button", "Revoke");
    await page.getByText("pipeline is revoked").waitFor();
    await page.getByText("No API token yet").waitFor();
    await expect.poll(status).toBe(401);
  });

  /** An organization that has something to show on every page of its settings. */
  async function settledOwner(): Promise<Owner> {
    const owner = await newOwner(service);
    const { api } = owner;
    await api.call("CreateApiToken", { body: { name: "pipeline", permissions: ["job:submit", "workflow:read"] } });
    await api.call("CreateRole", { body: { name: "releaser", permissions: ["workflow:version:create"] } });
    await api.call("CreateInvitation", { body: { roles: ["viewer"], email: "guest@example.org" } });
    const colleague = await newOwner(service, "Elsewhere");
    await service.addMember(owner.organizationId, colleague.userId, ["developer"]);
    return owner;
  }

  async function listWorkflows(organizationId: string, token: string): Promise<Response> {
    return await fetch(`${service.baseUrl}/organizations/${organizationId}/workflows`, {
      headers: { Authorization: `Bearer ${token}` },
    });
  }

  inWholeMatrix(() => {
    test.each(["before", "while"] as const)(
      "a role is not changed if somebody else changes it %s the change is sent, and the dialog says so",
      async (when) => {
        browser.expectFault(/412/);
        const owner = await newOwner(service);
        const body = { name: "releaser", permissions: ["workflow:version:create", "job:submit"] };
        await owner.api.call("CreateRole", { body });
        const params = { role: "releaser" };
        const restrict = () => owner.api.call("UpdateRole", { params, body: { permissions: ["job:submit"] } });
        const page = await browser.newPage();
        await signInAt(page, `${owner.url}/settings/roles`, owner);
        await press(page, "button", "Change the role releaser");
        const form = page.getByRole("dialog", { name: "Change the role releaser" });
        await form.getByLabel("Description").fill("They release.");
        if (when === "before") await restrict();
        else {
          await page.route("**/roles/*", async (route) => {
            if (route.request().method() === "PATCH") await restrict();
            await route.continue();
          });
        }
        await press(form, "button", "Change role");
        await form.getByText("It was changed after this page showed it to you").waitFor();
        await expectAccessible(page, "a change that somebody else has overtaken");
        const present = async () => (await owner.api.call("GetRole", { params })).body;
        expect(await present()).toMatchObject({ description: "", permissions: ["job:submit"] });

        await page.unroute("**/roles/*");
        await press(form, "button", "Cancel");
        await page.getByRole("row").filter({ hasText: "releaser" }).getByRole("cell", { name: "1" }).waitFor();
        await press(page, "button", "Change the role releaser");
        await form.getByLabel("Description").fill("They release.");
        await press(form, "button", "Change role");
        await page.getByText("The role releaser is changed").waitFor();
        expect(await present()).toMatchObject({ description: "They release.", permissions: ["job:submit"] });
      },
    );

    test("a role can be renamed, and its member keeps it", async () => {
      const owner = await newOwner(service);
      await owner.api.call("CreateRole", { body: { name: "releaser", permissions: ["workflow:version:create"] } });
      const colleague = await newOwner(service, "Elsewhere");
      await service.addMember(owner.organizationId, colleague.userId, ["releaser"]);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/settings/roles`, owner);
      await press(page, "button", "Change the role releaser");
      const form = page.getByRole("dialog", { name: "Change the role releaser" });
      await form.getByLabel("Name").fill("publisher");
      await press(form, "button", "Change role");
      await page.getByText("The role publisher is changed").waitFor();
      await page.getByRole("cell", { name: "publisher", exact: true }).waitFor();
      const { body } = await owner.api.call("GetMember", { params: { userId: colleague.userId } });
      expect(body).toMatchObject({ roles: ["publisher"] });
    });

    test("a user without an organization can create one, with a key, and sees it in the choice of organizations", async () => {
      const person = await newSignedInPerson(service);
      const key = `acme-${person.userId}`;
      const page = await browser.newPage();
      await sendSignIn(page, `${service.baseUrl}/app`, person);
      await page.getByLabel("Name of the organization").fill("Acme");
      await page.getByLabel("Key (optional)").fill(key);
      await expectAccessible(page, "the form of an organization");
      await limitOrganizations(service.running.database, person.email, 0);
      browser.expectFault(/403/);
      await press(page, "button", "Create organization");
      const refusal = page.getByRole("alert").filter({ hasText: "You may not create organizations here" });
      // Advice to ask an owner for a permission would lead nowhere.
      expect(await refusal.innerText()).not.toContain("owner");
      await limitOrganizations(service.running.database, person.email, null);
      await press(page, "button", "Create organization");
      await page.getByRole("button", { name: "Organization: Acme" }).click();
      await page.getByRole("menuitemradio", { name: `Acme (${key})`, exact: true }).waitFor();
    });

    test("the focus goes to the field with a problem on every page with a form", async () => {
      browser.expectFault(/40[09]/);
      const person = await newSignedInPerson(service);
      const page = await browser.newPage();
      const expectFocus = async (label: string) => await page.getByLabel(label).and(page.locator(":focus")).waitFor();
      await sendSignIn(page, `${service.baseUrl}/app`, person);
      await page.getByLabel("Name of the organization").fill("Acme");
      await page.getByLabel("Key (optional)").fill("NOT A KEY");
      await press(page, "button", "Create organization");
      await expectFocus("Key (optional)");

      await page.getByRole("button", { name: /^Account of/ }).click();
      await page.getByRole("menuitem", { name: "Your account" }).click();
      await page.getByLabel("Name that people see").fill(" ");
      await press(page, "button", "Save");
      await expectFocus("Name that people see");

      await page.getByRole("link", { name: "Password", exact: true }).click();
      await page.getByLabel("Current password").fill("not the password");
      await page.getByLabel("New password", { exact: true }).fill("a new long password");
      await page.getByLabel("Confirm new password").fill("another long password");
      await press(page, "button", "Change password");
      await expectFocus("Confirm new password");
      await page.getByLabel("Confirm new password").fill("a new long password");
      await press(page, "button", "Change password");
      await expectFocus("Current password");

      await page.getByRole("link", { name: "Second factor", exact: true }).click();
      await page.getByLabel("Your password").fill("not the password");
      await press(page, "button", "Set up");
      await expectFocus("Your password");
    });

    test("the settings open at the first permitted page, other pages name the missing permission, and the account leads back", async () => {
      const owner = await newOwner(service);
      const viewer = await newOwner(service, "Elsewhere");
      await service.addMember(owner.organizationId, viewer.userId, ["viewer"]);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/settings`, viewer);
      await page.getByRole("region", { name: "Members", exact: true }).waitFor();
      await expect.poll(() => page.title()).toBe("Members · Settings · Stepwell");
      await page.getByRole("link", { name: "API tokens" }).click();
      await page.getByText("This needs the permission apitoken:read. You have the role viewer here").waitFor();
      await page.getByRole("button", { name: /^Account of/ }).click();
      await page.getByRole("menuitem", { name: "Your account" }).click();
      await page.getByRole("heading", { name: "Your account" }).waitFor();
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" }).click();
      await page.waitForURL(`${owner.url}/jobs`);
    });

    test.each(["light", "dark"] as const)(
      "every page of the settings follows the accessibility rules in %s",
      async (colorScheme) => {
        const owner = await settledOwner();
        const page = await browser.newPage({ colorScheme });
        await signInAt(page, `${owner.url}/settings`, owner);
        await visitAll(page, async (what) => await expectAccessible(page, `${what} in ${colorScheme}`));
      },
    );

    test("no page of the settings is wider than a telephone", async () => {
      const owner = await settledOwner();
      const page = await browser.newPage({ width: 360 });
      await signInAt(page, `${owner.url}/settings`, owner);
      await visitAll(page, async (what) => {
        expect(await page.evaluate("document.documentElement.scrollWidth"), what).toBeLessThanOrEqual(360);
      });
    });
  });
});

/** The pages by their links, each with an element that shows that the page is complete. */
const organizationPages = [
  ["API tokens", "cell", "pipeline"],
  ["Members", "button", /^Change the roles of/],
  ["Invitations", "cell", "guest@example.org"],
  ["Roles", "cell", "releaser"],
  ["Sign-in", "region", "Sign-in providers"],
  ["Audit trail", "cell", "CreateRole"],
  ["Limits", "progressbar", /API tokens/],
] as const;

const accountPages = [
  ["Profile", "textbox", "Name that people see"],
  ["Password", "textbox", "Current password"],
  ["Second factor", "button", "Set up"],
  ["Sessions", "cell", /this one/],
  ["User tokens", "cell", "test"],
  ["Activity", "cell", "Signed in"],
] as const;

async function visitAll(page: Page, look: (what: string) => Promise<void>): Promise<void> {
  await visit(page, "Settings of the organization", organizationPages, look);
  await page.getByRole("button", { name: /^Account of/ }).click();
  await page.getByRole("menuitem", { name: "Your account" }).click();
  await visit(page, "Your account", accountPages, look);
}

async function visit(
  page: Page,
  area: string,
  pages: typeof organizationPages | typeof accountPages,
  look: (what: string) => Promise<void>,
): Promise<void> {
  for (const [link, role, name] of pages) {
    await page.getByRole("navigation", { name: area }).getByRole("link", { name: link, exact: true }).click();
    await page.getByRole("main").getByRole(role, { name }).first().waitFor();
    await look(link);
  }
}

async function press(where: Pick<Page, "getByRole">, role: "button" | "link", name: string): Promise<void> {
  await where.getByRole(role, { name, exact: true }).press("Enter");
}
