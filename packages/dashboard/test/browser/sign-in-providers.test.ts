import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { rightPassword } from "../../../server/test/support/people.ts";
import { newOrganizationOfId, writeProviderFile } from "../../../server/test/support/provider-file.ts";
import { useService } from "../../../server/test/support/service.ts";
import { onEveryStore } from "../../../server/test/support/stores.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { looks } from "./support/looks.ts";
import { newOwner } from "./support/people.ts";

const browser = testBrowser();

onEveryStore((home) => {
  const organizationId = randomUUID();
  const shared = { clientId: "stepwell", clientSecret: "a secret of the client", organizationId };
  const file = writeProviderFile([
    {
      ...shared,
      id: "acme",
      name: "Acme",
      issuer: "https://sign-in.acme.example",
      emailDomains: ["acme.example"],
      roleClaim: "groups",
      roles: { engineering: ["developer"], "platform-leads": ["owner"] },
      bearer: { audience: "https://stepwell.acme.example" },
    },
    {
      ...shared,
      id: "globex",
      name: "Globex",
      issuer: "https://globex.example",
      emailDomains: ["globex.example"],
      defaultRoles: ["viewer"],
    },
  ]);
  const service = useService(home, { STEPWELL_SIGN_IN_PROVIDERS_FILE: file });

  /** With a provider, the sign-in asks for the address first. */
  async function openProviders(page: Page): Promise<void> {
    const owner = await newOwner(service);
    await service.addMember(organizationId, owner.userId, ["viewer"]);
    await page.goto(`${service.baseUrl}/app/organizations/${organizationId}/settings/sign-in-providers`);
    await page.getByLabel("E-mail").fill(owner.email);
    await page.getByLabel("E-mail").press("Enter");
    await page.getByLabel("Password").fill(rightPassword);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("region", { name: "Globex" }).waitFor();
  }

  test("a provider's page says whose people come by it, which roles they get, and what is registered there", async () => {
    await newOrganizationOfId(service, organizationId);
    const page = await browser.newPage();
    await openProviders(page);
    const acme = page.getByRole("region", { name: "Acme" });
    const text = await acme.innerText();
    for (const said of [
      "https://sign-in.acme.example",
      "acme.example",
      "by the claim groups",
      "engineering → developer",
      "platform-leads → owner",
      "none: they are refused",
      "taken for the audience https://stepwell.acme.example",
      `${service.baseUrl}/oidc/callback/acme`,
    ]) {
      expect(text).toContain(said);
    }
    expect(await page.content()).not.toContain(shared.clientSecret);
  });

  looks(home, () => {
    test.each(["light", "dark"] as const)(
      "the providers keep the rules of accessibility in %s, and are no wider than a telephone",
      async (colorScheme) => {
        const page = await browser.newPage({ colorScheme, width: 360 });
        await openProviders(page);
        await expectAccessible(page, `the sign-in providers in ${colorScheme}`);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
      },
    );
  });
});
