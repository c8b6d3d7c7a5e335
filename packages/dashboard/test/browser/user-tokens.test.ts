import { useSingleSignOn } from "@stepwell/testing/identities/single-sign-on-world.ts";
import { giveSecondFactor, newSignedInPerson, rightPassword } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { continueWithAcme, sendSignIn } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
  describe("of a user with a password", () => {
    const service = useService(home);

    test("a user token can be created by keyboard alone, after the right password", async () => {
      const person = await newSignedInPerson(service);
      browser.expectFault(/400 .*\/account\/tokens$/);
      const page = await browser.newPage();
      await sendSignIn(page, `${service.baseUrl}/app/account/tokens`, person);
      const form = await openForm(page);
      await form.getByLabel("Name").fill("laptop");
      await form.getByText("The default is 90 days").waitFor();
      await form.getByLabel("Your password").fill("not the password");
      await expectAccessible(page, "the form of a user token");
      await form.getByLabel("Your password").press("Enter");
      await form.getByText("is not your password").waitFor();
      await form.getByLabel("Your password").fill(rightPassword);
      await form.getByLabel("Your password").press("Enter");
      expect(await accountStatus(service.baseUrl, await shownToken(page))).toBe(200);
    });

    inWholeMatrix(() => {
      test("the focus goes to the field that the service rejects", async () => {
        const person = await newSignedInPerson(service);
        browser.expectFault(/400 .*\/account\/tokens$/);
        const page = await browser.newPage();
        await sendSignIn(page, `${service.baseUrl}/app/account/tokens`, person);
        const form = await openForm(page);
        const password = form.getByLabel("Your password");
        await password.fill("not the password");
        await form.getByLabel("Name").fill("laptop");
        await form.getByLabel("Name").press("Enter");
        await password.and(page.locator(":focus")).waitFor();
        expect(await password.getAttribute("aria-invalid")).toBe("true");
      });

      test("a second factor that is set up while the form is open is then required there", async () => {
        const person = await newSignedInPerson(service);
        browser.expectFault(/400 .*\/account\/tokens$/);
        const page = await browser.newPage();
        await sendSignIn(page, `${service.baseUrl}/app/account/tokens`, person);
        const form = await openForm(page);
        const { recoveryCodes } = await giveSecondFactor(service, person);
        await form.getByLabel("Name").fill("laptop");
        await form.getByLabel("Your password").fill(rightPassword);
        await form.getByLabel("Your password").press("Enter");
        await form.getByLabel("Code").fill(recoveryCodes[0] ?? "");
        await form.getByLabel("Code").press("Enter");
        expect(await accountStatus(service.baseUrl, await shownToken(page))).toBe(200);
      });
    });
  });

  inWholeMatrix(() => {
    describe("of a user who signs in through a provider", () => {
      const world = useSingleSignOn(home);

      test("a user token can be created after a new sign-in through the provider", async () => {
        const { login } = await world.newPersonAt("acme");
        browser.expectFault(/409 .*\/account\/tokens$/);
        // The provider in this test has no icon.
        browser.expectFault(/favicon\.ico$/);
        const page = await browser.newPage();
        await page.goto(`${world.service.baseUrl}/app/account/tokens`);
        await continueWithAcme(page, login);
        const form = await openForm(page);
        await form.getByLabel("Name").fill("laptop");
        await form.getByLabel("Name").press("Enter");
        await form.getByText("so confirm at your provider that it is you").waitFor();
        await expectAccessible(page, "the form of a user token of somebody without a password");
        await form.getByRole("button", { name: "Sign in again" }).press("Enter");
        await continueWithAcme(page, login);
        const again = await openForm(page);
        await again.getByLabel("Name").fill("laptop");
        await again.getByLabel("Name").press("Enter");
        expect(await accountStatus(world.service.baseUrl, await shownToken(page))).toBe(200);
      });
    });
  });
});

async function openForm(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: "Create user token" }).press("Enter");
  const form = page.getByRole("dialog", { name: "Create a user token" });
  await form.waitFor();
  return form;
}

async function shownToken(page: Page): Promise<string> {
  const shown = page.getByRole("dialog", { name: "The user token laptop" });
  return await shown.getByRole("region", { name: "Token" }).innerText();
}

async function accountStatus(baseUrl: string, token: string): Promise<number> {
  return (await fetch(`${baseUrl}/account`, { headers: { Authorization: `Bearer ${token}` } })).status;
}
