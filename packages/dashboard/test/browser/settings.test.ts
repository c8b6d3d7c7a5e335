import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useService } from "../../../server/test/support/service.ts";
import { onEveryStore } from "../../../server/test/support/stores.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { newOwner, signInAt } from "./support/people.ts";

const browser = testBrowser();

onEveryStore((home) => {
  const service = useService(home);

  test("a token is created by keyboard alone, shown once, works, and is refused once it is revoked", async () => {
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
    // It was not copied: closing asks first.
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

  test("whoever may not see the tokens reads which permission it takes", async () => {
    const owner = await newOwner(service);
    const viewer = await newOwner(service, "Elsewhere");
    await service.addMember(owner.organizationId, viewer.userId, ["viewer"]);
    const page = await browser.newPage();
    await signInAt(page, `${owner.url}/settings`, viewer);
    await page.getByText("It takes the permission apitoken:read. You have the role viewer here").waitFor();
  });

  async function listWorkflows(organizationId: string, token: string): Promise<Response> {
    return await fetch(`${service.baseUrl}/organizations/${organizationId}/workflows`, {
      headers: { Authorization: `Bearer ${token}` },
    });
  }
});

/** By keyboard. */
async function press(where: Pick<Page, "getByRole">, role: "button" | "link", name: string): Promise<void> {
  await where.getByRole(role, { name, exact: true }).press("Enter");
}
