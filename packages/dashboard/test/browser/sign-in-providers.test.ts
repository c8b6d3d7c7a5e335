import { randomUUID } from "node:crypto";
import { newOrganizationOfId, writeProviderFile } from "@stepwell/testing/identities/provider-file.ts";
import { rightPassword } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { parseProviders } from "../../../server/src/auth/external/provider-file.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { newOwner, type Owner } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
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

  async function openProviders(page: Page): Promise<void> {
    const owner = await newOwner(service);
    await service.addMember(organizationId, owner.userId, ["viewer"]);
    await signInAt(page, organizationId, owner);
    await page.getByRole("region", { name: "Globex" }).waitFor();
  }

  /** If there is a provider, the sign-in asks for the e-mail address alone, and then for the password. */
  async function signInAt(page: Page, organization: string, { email }: Owner): Promise<void> {
    await page.goto(`${service.baseUrl}/app/organizations/${organization}/settings/sign-in-providers`);
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("E-mail").press("Enter");
    await page.getByLabel("Password").fill(rightPassword);
    await page.getByRole("button", { name: "Sign in" }).click();
  }

  test("a provider's page shows its domains, the roles that it gives, and the values to register there", async () => {
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
      "none: people are rejected, unless a member gave them a role",
      "accepted for the audience https://stepwell.acme.example",
      `${service.baseUrl}/oidc/callback/acme`,
    ]) {
      expect(text).toContain(said);
    }
    expect(await page.content()).not.toContain(shared.clientSecret);
  });

  inWholeMatrix(() => {
    test("an organization without a provider sees a sample file that the service accepts, with its own id in it", async () => {
      const owner = await newOwner(service);
      const page = await browser.newPage();
      await signInAt(page, owner.organizationId, owner);
      const commands = page.getByRole("region", { name: "Sign-in providers" }).locator("pre");
      await commands.first().waitFor();
      const [example = "", redirectUri] = await commands.allInnerTexts();
      const { providers, problems } = parseProviders(example, () => "the client's secret");
      expect(problems).toEqual([]);
      expect(providers).toMatchObject([{ id: "acme", organizationId: owner.organizationId }]);
      expect(redirectUri).toBe(`${service.baseUrl}/oidc/callback/acme`);
    });

    test.each(["light", "dark"] as const)(
      "the pages of providers follow the accessibility rules in %s, and are no wider than a telephone",
      async (colorScheme) => {
        const page = await browser.newPage({ colorScheme, width: 360 });
        await openProviders(page);
        await expectAccessible(page, `the sign-in providers in ${colorScheme}`);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
      },
    );
  });
});
