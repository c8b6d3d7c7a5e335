import { definitionOf, straightDefinition, waitStep } from "@stepwell/testing/definitions.ts";
import { submitAndWait } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { choose } from "./support/keyboard.ts";
import { deploy, newOwner, type Owner, signInAt } from "./support/people.ts";

const browser = testBrowser();

interface Token {
  readonly tokenId: string;
  readonly token: string;
  readonly name: string;
  readonly permissions: readonly string[];
  readonly expiresAt?: string;
  readonly boundTo?: object;
}

onOneStore((home) => {
  const service = useService(home);

  async function newToken({ api }: Owner, permissions: readonly string[]): Promise<Token> {
    return (await api.call<Token>("CreateApiToken", { body: { name: "pipeline", permissions } })).body;
  }

  test("a token can be changed by keyboard alone, and its permissions and expiry change with it", async () => {
    const owner = await newOwner(service);
    const { tokenId, token } = await newToken(owner, ["workflow:read", "job:list"]);
    const { workflowId } = await deploy(owner.api, straightDefinition);
    const page = await browser.newPage();
    await signInAt(page, `${owner.url}/settings/api-tokens/${tokenId}`, owner);
    await press(page, "Change");
    const form = page.getByRole("dialog", { name: "Change pipeline" });
    expect(await form.getByLabel("job:list", { exact: true }).isChecked()).toBe(true);
    await form.getByLabel("Name").fill("releases");
    await form.getByLabel("job:list", { exact: true }).press("Space");
    await choose(form.getByLabel("Expires"), "In 30 days");
    await choose(form.getByLabel("Restrictions"), "Workflows or tags");
    await press(form, "Change token");
    await form.getByText("Choose a workflow or name a tag.").waitFor();
    await expectAccessible(page, "the form that changes a token");
    await form.getByRole("group", { name: "Only these workflows" }).getByRole("checkbox").press("Space");
    await form.getByLabel("Name").press("Enter");
    await page.getByText("releases is changed").waitFor();
    await page.getByRole("heading", { level: 2, name: "releases" }).waitFor();
    const { body: workflow } = await owner.api.call<{ name: string }>("GetWorkflow", { params: { workflowId } });
    await page.getByRole("link", { name: workflow.name }).waitFor();

    const { body } = await owner.api.call<Token>("GetApiToken", { params: { tokenId } });
    expect(body).toMatchObject({
      name: "releases",
      permissions: ["workflow:read"],
      boundTo: { workflowIds: [workflowId] },
    });
    const days = (Date.parse(body.expiresAt ?? "") - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThan(30);
    const program = owner.api.as(token);
    await program.call("ListWorkflows");
    await expect.poll(async () => (await program.callAny("ListJobs", {})).status).toBe(403);

    // The form keeps the fields that were not touched, and removes the restriction.
    await press(page, "Change");
    await choose(page.getByRole("dialog").getByLabel("Restrictions"), "None");
    await press(page.getByRole("dialog"), "Change token");
    await page.getByText("none", { exact: true }).waitFor();
    const { body: loose } = await owner.api.call<Token>("GetApiToken", { params: { tokenId } });
    expect(loose.boundTo).toBeUndefined();
    expect(loose.expiresAt).toBe(body.expiresAt);
  });

  inWholeMatrix(() => {
    test("a token that somebody else restricts while its form is open stays as they left it, and the form says so", async () => {
      browser.expectFault(/412/);
      const owner = await newOwner(service);
      const { tokenId } = await newToken(owner, ["workflow:read", "job:list"]);
      const params = { tokenId };
      const page = await browser.newPage();
      await page.clock.install();
      await signInAt(page, `${owner.url}/settings/api-tokens/${tokenId}`, owner);
      await press(page, "Change");
      const form = page.getByRole("dialog", { name: "Change pipeline" });
      await form.getByLabel("Name").fill("releases");
      const restricted = { permissions: ["workflow:read"], boundTo: { tags: ["staging"] } };
      await owner.api.call("UpdateApiToken", { params, body: restricted });
      // The page reads the token again when its user returns to the tab. The form keeps the data with which it was opened.
      const shown = page.waitForResponse(`**/api-tokens/${tokenId}`);
      await page.clock.fastForward(70_000);
      await page.evaluate('document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))');
      await shown;
      await page.getByText("staging").waitFor({ state: "attached" });
      await press(form, "Change token");
      await form.getByText("It was changed after this page showed it to you").waitFor();
      const present = async () => (await owner.api.call<Token>("GetApiToken", { params })).body;
      expect(await present()).toMatchObject({ name: "pipeline", ...restricted });

      await press(form, "Cancel");
      await press(page, "Change");
      await form.getByLabel("Name").fill("releases");
      await press(form, "Change token");
      await page.getByText("releases is changed").waitFor();
      expect(await present()).toMatchObject({ name: "releases", ...restricted });
    });

    test("a rotation shows the new secret once, and the old secret works for the chosen time", async () => {
      const owner = await newOwner(service);
      const { tokenId, token } = await newToken(owner, ["workflow:read"]);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/settings/api-tokens/${tokenId}`, owner);
      const rotate = async (overlap: string) => {
        await press(page, "Rotate");
        const asked = page.getByRole("dialog", { name: "Give pipeline a new secret?" });
        await choose(asked.getByLabel("The present secret ends"), overlap);
        await press(asked, "Rotate");
        return await takeSecret(page, "The new secret of pipeline");
      };
      const statusOf = async (secret: string) => (await owner.api.as(secret).callAny("ListWorkflows", {})).status;
      const second = await rotate("after 1 day");
      expect([await statusOf(token), await statusOf(second)]).toEqual([200, 200]);
      await page.getByText("The former secret is valid until").waitFor();
      const third = await rotate("at once");
      expect(await statusOf(third)).toBe(200);
      await expect.poll(() => statusOf(second)).toBe(401);
    });

    test("a dialog that makes a secret cannot be closed before it has shown the secret", async () => {
      const owner = await newOwner(service);
      await newToken(owner, ["workflow:read"]);
      const page = await browser.newPage();
      const form = await beginToken(page, owner);
      await form.getByLabel("job:list", { exact: true }).press("Space");
      await expectHeld(page, form, "Create token");
      await takeSecret(page, "The token narrow");
      await page.getByRole("link", { name: "pipeline" }).press("Enter");
      await press(page, "Rotate");
      await expectHeld(page, page.getByRole("dialog", { name: "Give pipeline a new secret?" }), "Rotate");
      await takeSecret(page, "The new secret of pipeline");
    });

    test("a token for one workflow and a tag can do nothing else", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, straightDefinition);
      const other = await deploy(owner.api, straightDefinition);
      const { body: workflow } = await owner.api.call<{ name: string }>("GetWorkflow", { params: { workflowId } });
      const page = await browser.newPage();
      const form = await beginToken(page, owner);
      await choose(form.getByLabel("Restrictions"), "Workflows or tags");
      await form.getByLabel(workflow.name).press("Space");
      await form.getByLabel("Only these tags").fill("$LIVE, staging");
      await form.getByLabel("job:submit", { exact: true }).press("Space");
      await form.getByLabel("Name").press("Enter");
      const program = owner.api.as(await takeSecret(page, "The token narrow"));
      const { body } = await owner.api.call<{ apiTokens: Token[] }>("ListApiTokens");
      expect(body.apiTokens[0]?.boundTo).toEqual({ workflowIds: [workflowId], tags: ["$LIVE", "staging"] });
      await program.call("SubmitJob", { body: { workflowId } });
      await program.refused("SubmitJob", "NotFoundError", { body: { workflowId: other.workflowId } });
      await program.refused("SubmitJob", "AuthorizationError", {
        body: { workflowId, workflowVersion: { versionNumber: 1 } },
      });
    });

    test("a token can be limited to sending one event to one job", async () => {
      browser.expectFault(/400/);
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, definitionOf(waitStep("approval", ["approved", "seen"], null)));
      const { jobId } = await submitAndWait(owner.api, workflowId);
      const page = await browser.newPage();
      const form = await beginToken(page, owner);
      await choose(form.getByLabel("Restrictions"), "One event of one job");
      // The permission follows from this restriction, so the form does not ask for permissions.
      await form.getByRole("group", { name: /^Permissions/ }).waitFor({ state: "detached" });
      await form.getByLabel("Event id").fill("approved");
      await form.getByLabel("Job id").fill("00000000-0000-7000-8000-000000000000");
      await form.getByLabel("Job id").press("Enter");
      await form.getByText("is not a job of this organization").waitFor();
      await expectAccessible(page, "the form of a token for one event");
      await form.getByLabel("Job id").fill(jobId);
      await form.getByLabel("Job id").press("Enter");
      const program = owner.api.as(await takeSecret(page, "The token narrow")).bind({ jobId });
      await program.refused("SendJobEvent", "AuthorizationError", { body: { eventId: "seen" } });
      await program.call("SendJobEvent", { body: { eventId: "approved" } });
      await program.refused("GetJob", "AuthorizationError");
    });

    test("the form of a narrow token is no wider than a telephone, and follows the accessibility rules in the dark theme", async () => {
      const owner = await newOwner(service);
      for (let index = 0; index < 10; index += 1) await deploy(owner.api, straightDefinition);
      const page = await browser.newPage({ width: 360, colorScheme: "dark" });
      const form = await beginToken(page, owner);
      await choose(form.getByLabel("Restrictions"), "Workflows or tags");
      await form.getByLabel("Find a workflow by name").fill("no such name");
      await form.getByText("No workflow has a name like this.").waitFor();
      await form.getByLabel("Find a workflow by name").fill("");
      await expectAccessible(page, "the form of a narrow token");
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    });
  });
});

/** Starts the dialog's action, whose answer is late, and tries everything that closes a dialog. */
async function expectHeld(page: Page, dialog: Locator, action: string): Promise<void> {
  const answer = Promise.withResolvers<void>();
  const isSent = page.waitForRequest((request) => request.method() === "POST");
  await page.route("**/api-tokens**", async (route) => {
    if (route.request().method() === "POST") await answer.promise;
    await route.continue();
  });
  await press(dialog, action);
  await isSent;
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  for (const name of ["Close", "Cancel"]) expect(await dialog.getByRole("button", { name }).isDisabled()).toBe(true);
  expect(await dialog.getByText("Press Escape again").count()).toBe(0);
  answer.resolve();
  await dialog.waitFor({ state: "detached" });
  await page.unroute("**/api-tokens**");
}

async function beginToken(page: Page, owner: Owner): Promise<Locator> {
  await signInAt(page, `${owner.url}/settings/api-tokens`, owner);
  await press(page, "Create token");
  const form = page.getByRole("dialog", { name: "Create an API token" });
  await form.getByLabel("Name").fill("narrow");
  return form;
}

async function takeSecret(page: Page, title: string): Promise<string> {
  const shown = page.getByRole("dialog", { name: title });
  const secret = await shown.getByRole("region", { name: "Token" }).innerText();
  await press(shown, "Done");
  await press(shown, "Close without copying");
  await shown.waitFor({ state: "detached" });
  return secret;
}

async function press(where: Pick<Page, "getByRole">, name: string): Promise<void> {
  await where.getByRole("button", { name, exact: true }).press("Enter");
}
