import { useSingleSignOn } from "@stepwell/testing/identities/single-sign-on-world.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { continueWithAcme } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
  const world = useSingleSignOn(home);

  test("a person who signs in at a provider accepts an invitation of another organization, once", async () => {
    const { login, email } = await world.newPersonAt("acme");
    const { organizationId, api } = await world.service.newOrganization();
    const invited = { body: { roles: ["viewer"], email } };
    const { body } = await api.call<{ invitationId: string; link: string }>("CreateInvitation", invited);
    browser.expectFault(/409 .*\/invitations\/accept$/);
    // The provider in this test has no icon.
    browser.expectFault(/favicon\.ico$/);
    const page = await browser.newPage();
    await page.goto(body.link);
    await page.getByRole("link", { name: "Accept the invitation in the dashboard" }).click();
    await continueWithAcme(page, login);
    await page.getByText(`(${email})`).waitFor();
    await expectAccessible(page, "the page of an invitation");
    const params = { invitationId: body.invitationId };
    expect((await api.call("GetInvitation", { params })).body).toMatchObject({ status: "open" });
    const address = page.url();
    await page.getByRole("button", { name: "Accept invitation" }).click();
    await page.waitForURL(`**/app/organizations/${organizationId}`);
    expect((await api.call("GetInvitation", { params })).body).toMatchObject({ status: "accepted" });

    await page.goto(address);
    await page.getByRole("button", { name: "Accept invitation" }).click();
    await page.getByRole("alert").waitFor();
  });
});
