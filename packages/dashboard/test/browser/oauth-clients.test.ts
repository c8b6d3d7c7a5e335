import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, signInAt, submitAndWait } from "./support/people.ts";

const browser = testBrowser();

/** The file of the example, with the values that its reader is told to fill in. */
let example = "";
const site: Server = createServer((_request, response) => {
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.end(example);
});
beforeAll(async () => await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve)));
afterAll(async () => await new Promise((resolve) => site.close(resolve)));

onOneStore((home) => {
  const service = useService(home);

  test("an application can be created in the dashboard, gets a member's consent, lists jobs, and can be deleted", async () => {
    const owner = await newOwner(service);
    const { workflowId } = await deploy(owner.api, straightDefinition);
    await submitAndWait(owner.api, workflowId);
    const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
    const page = await browser.newPage();
    await signInAt(page, `${owner.url}/settings/oauth-clients`, owner);
    await page.getByText("No application yet").waitFor();
    await page.getByRole("button", { name: "Create", exact: true }).press("Enter");
    const form = page.getByRole("dialog", { name: "Create an application" });
    await form.getByLabel("Name").fill("Order desk");
    await form.getByLabel("Redirect URIs").fill(`${address}#part`);
    browser.expectFault(/400/);
    await form.getByRole("button", { name: "Create" }).press("Enter");
    await form.getByText(/must not have a fragment/i).waitFor();
    await form.getByLabel("Redirect URIs").fill(`${address}\n`);
    await expectAccessible(page, "the form of an application");
    await form.getByRole("button", { name: "Create" }).press("Enter");
    await page.getByText("The application Order desk is created").waitFor();
    const clientId = await page
      .getByRole("row", { name: /Order desk/ })
      .getByRole("code")
      .innerText();
    await expectAccessible(page, "the list of applications");

    const values = { service: service.baseUrl, organizationId: owner.organizationId, clientId };
    example = readFileSync(new URL("../../../../examples/browser-application/index.html", import.meta.url), "utf8");
    for (const [name, value] of Object.entries(values)) {
      example = example.replace(new RegExp(`const ${name} = "[^"]*"`), `const ${name} = "${value}"`);
    }
    const application = await browser.newPage();
    await application.goto(address);
    await application.getByRole("button", { name: "Sign in" }).click();
    await application.getByLabel("E-mail").fill(owner.email);
    await application.getByLabel("Password").fill("a long enough password");
    await application.getByRole("button", { name: "Sign in" }).click();
    await application.getByText("An application of the organization Acme").waitFor();
    await expectAccessible(application, "the page that asks for consent");
    await application.getByRole("button", { name: "Do not allow" }).click();
    await application.getByRole("alert").getByText("The user did not agree.").waitFor();
    await application.goto(address);
    await application.getByRole("button", { name: "Sign in" }).click();
    await application.getByRole("button", { name: "Allow", exact: true }).click();
    await application.getByRole("listitem").getByText("SUCCEEDED").waitFor();
    expect(application.url()).toBe(address);

    await page.getByRole("button", { name: "Delete the application Order desk" }).press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).press("Enter");
    await page.getByText("The application Order desk is deleted").waitFor();
    await page.getByText("No application yet").waitFor();
  });
});
