import { randomUUID } from "node:crypto";
import { giveSecondFactor, rightPassword } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { newOwner, signInAt } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
  const service = useService(home);

  test("a role can be created and given to a member, and the audit trail records it", async () => {
    const owner = await newOwner(service);
    const colleague = await newOwner(service, "Elsewhere");
    await service.addMember(owner.organizationId, colleague.userId, ["viewer"]);
    const rolesOf = async () =>
      (await owner.api.call<{ roles: string[] }>("GetMember", { params: { userId: colleague.userId } })).body.roles;
    const page = await browser.newPage();
    await signInAt(page, `${owner.url}/settings/roles`, owner);
    await page.getByRole("button", { name: "Create role" }).press("Enter");
    const form = page.getByRole("dialog", { name: "Create a role" });
    await form.getByLabel("Name").fill("releaser");
    await form.getByLabel("workflow:version:create").press("Space");
    await form.getByRole("button", { name: "Create role" }).press("Enter");
    await page.getByText("The role releaser is created").waitFor();

    await page.getByRole("link", { name: "Members" }).press("Enter");
    const row = page.getByRole("row").filter({ hasText: colleague.email });
    await row.getByRole("button", { name: /^Change the roles of/ }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("releaser").press("Space");
    await dialog.getByLabel("viewer").press("Space");
    await expectAccessible(page, "the roles of a member");
    await dialog.getByRole("button", { name: "Change roles" }).press("Enter");
    await row.getByRole("cell", { name: "releaser" }).waitFor();
    expect(await rolesOf()).toEqual(["releaser"]);

    await page.getByRole("link", { name: "Audit trail" }).press("Enter");
    await page.getByLabel("Action").fill("UpdateMember");
    await page.getByRole("button", { name: "Filter", exact: true }).press("Enter");
    await page.waitForURL(/audit\?action=UpdateMember/);
    await page.getByRole("button", { name: /^Details of UpdateMember/ }).press("Enter");
    await page.getByRole("dialog", { name: "UpdateMember" }).getByText('"releaser"').waitFor();
    await expectAccessible(page, "an entry of the audit trail");
  });

  inWholeMatrix(() => {
    test("the roles of a member are not changed if somebody else has changed them meanwhile, and the dialog says so", async () => {
      browser.expectFault(/412/);
      const owner = await newOwner(service);
      const colleague = await newOwner(service, "Elsewhere");
      await service.addMember(owner.organizationId, colleague.userId, ["viewer"]);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/settings/members`, owner);
      const row = page.getByRole("row").filter({ hasText: colleague.email });
      await row.getByRole("button", { name: /^Change the roles of/ }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("developer").check();
      const params = { userId: colleague.userId };
      await page.route(`**/members/${colleague.userId}`, async (route) => {
        const body = { roles: ["operator"] };
        if (route.request().method() === "PATCH") await owner.api.call("UpdateMember", { params, body });
        await route.continue();
      });
      await dialog.getByRole("button", { name: "Change roles" }).click();
      await dialog.getByText("It was changed after this page showed it to you").waitFor();
      expect((await owner.api.call("GetMember", { params })).body).toMatchObject({ roles: ["operator"] });

      await page.unroute(`**/members/${colleague.userId}`);
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await row.getByRole("cell", { name: "operator" }).waitFor();
    });

    test("an invited person enters an address and a password once, and is in the organization", async () => {
      const owner = await newOwner(service);
      const { body } = await owner.api.call<{ link: string }>("CreateInvitation", { body: { roles: ["viewer"] } });
      const email = `${randomUUID()}@example.org`;
      const page = await browser.newPage();
      await page.goto(body.link);
      const form = page.locator("form").filter({ hasText: "Your name" });
      await form.getByLabel("E-mail").fill(email);
      await form.getByLabel("Name").fill("Ada");
      await form.locator("input[type=password]").fill(rightPassword);
      await form.getByRole("button").press("Enter");
      await page.getByRole("link", { name: "Open Acme" }).press("Enter");
      await page.getByRole("button", { name: "Organization: Acme" }).waitFor();
      expect(page.url()).toBe(owner.url);
    });

    test("an organization can require a second factor, and a member without one is led to its setup", async () => {
      const owner = await newOwner(service);
      const member = await newOwner(service, "Elsewhere");
      await service.addMember(owner.organizationId, member.userId, ["viewer"]);
      await giveSecondFactor(service, owner);
      await owner.api.call("UpdateOrganization", { body: { requiresSecondFactor: true } });
      const page = await browser.newPage();
      browser.expectFault(/403/);
      await signInAt(page, owner.url, member);
      await page.getByRole("heading", { name: "This organization requires a second factor" }).waitFor();
      await expectAccessible(page, "an organization that requires a second factor");
      await page.getByRole("link", { name: "Set up a second factor" }).press("Enter");
      await page.getByLabel("Your password").waitFor();
      await giveSecondFactor(service, member);
      const headingOfHome = async () => {
        await page.goto(owner.url);
        return await page.getByRole("heading", { level: 1 }).innerText();
      };
      await expect.poll(headingOfHome, { timeout: 10_000 }).toBe("Home");
    });

    test("a member can be removed with the API tokens that they made", async () => {
      const owner = await newOwner(service);
      const leaving = await newOwner(service, "Elsewhere");
      await service.addMember(owner.organizationId, leaving.userId, ["developer"]);
      const inOrganization = leaving.client.bind({ organizationId: owner.organizationId });
      const body = { name: "nightly", permissions: ["job:read"] };
      const { token } = (await inOrganization.call<{ token: string }>("CreateApiToken", { body })).body;
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/settings/members`, owner);
      const row = page.getByRole("row").filter({ hasText: leaving.email });
      const answer = Promise.withResolvers<void>();
      await page.route(`**/members/${leaving.userId}`, async (route) => {
        await answer.promise;
        await route.continue();
      });
      await row.getByRole("button", { name: /^Remove/ }).press("Enter");
      const dialog = page.getByRole("dialog");
      // The member cannot be removed before the dialog offers to revoke the tokens.
      await dialog.getByText("Looking for API tokens that they made").waitFor();
      const remove = dialog.getByRole("button", { name: "Remove" });
      expect(await remove.isDisabled()).toBe(true);
      await remove.press("Enter");
      answer.resolve();
      await dialog.getByLabel("Also revoke the 1 API token that they made").press("Space");
      await expectAccessible(page, "the removal of a member");
      await remove.press("Enter");
      await page.getByText(/ is removed$/).waitFor();
      await service.client(token).refused("WhoAmI", "AuthenticationError");
    });

    test("a user with a second factor can make the organization require one of all members, and stop this", async () => {
      const owner = await newOwner(service);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/settings/members`, owner);
      const turnOn = page.getByRole("button", { name: "Turn on" });
      await turnOn.press("Enter");
      const dialog = page.getByRole("dialog");
      browser.expectFault(/409/);
      await dialog.getByRole("button", { name: "Turn on" }).press("Enter");
      await dialog.getByText("Your account has no second factor", { exact: false }).waitFor();
      await giveSecondFactor(service, owner);
      await dialog.getByRole("button", { name: "Turn on" }).press("Enter");
      await page.getByText("A second factor is required").waitFor();
      const ask = async () => (await owner.api.call("GetOrganization")).body.requiresSecondFactor;
      expect(await ask()).toBe(true);
      await page.getByRole("button", { name: "Turn off" }).press("Enter");
      await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).press("Enter");
      await page.getByText("A second factor is no longer required").waitFor();
      expect(await ask()).toBe(false);
    });

    test("the last owner cannot leave, and a user who asks again does not see the earlier answer", async () => {
      browser.expectFault(/409/);
      const owner = await newOwner(service);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/settings/members`, owner);
      const leave = page.getByRole("button", { name: "Leave organization" });
      await leave.press("Enter");
      const dialog = page.getByRole("dialog", { name: "Leave this organization?" });
      await dialog.getByRole("button", { name: "Leave organization" }).press("Enter");
      await dialog.getByRole("alert").waitFor();
      await dialog.getByRole("button", { name: "Cancel" }).press("Enter");
      await leave.press("Enter");
      await dialog.waitFor();
      expect(await dialog.getByRole("alert").count()).toBe(0);
    });

    test("an invitation's link is shown once and admits its user, and an open invitation can be revoked", async () => {
      const owner = await newOwner(service);
      const guest = await newOwner(service, "Elsewhere");
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/settings/invitations`, owner);
      const invite = async () => {
        await page.getByRole("button", { name: "Invite", exact: true }).press("Enter");
        const form = page.getByRole("dialog", { name: "Invite somebody" });
        await form.getByLabel("viewer").press("Space");
        await form.getByRole("button", { name: "Make link" }).press("Enter");
        const shown = page.getByRole("dialog", { name: "The invitation's link" });
        const link = await shown.getByRole("region", { name: "Link" }).innerText();
        await shown.getByRole("button", { name: "Done" }).press("Enter");
        await shown.getByRole("button", { name: "Close without copying" }).press("Enter");
        return link;
      };
      const code = (await invite()).split("/").at(-1) ?? "";
      const accepted = await guest.client.call("AcceptInvitation", { body: { invitation: code } });
      expect(accepted.status).toBe(200);
      await invite();
      await page.getByRole("cell", { name: "accepted" }).waitFor();
      await page.getByRole("button", { name: /^Revoke the invitation/ }).press("Enter");
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).press("Enter");
      await page.getByText("The invitation is revoked").waitFor();
      await expect.poll(() => page.getByRole("button", { name: /^Revoke the invitation/ }).count()).toBe(0);
    });
  });
});
