import { waitingDefinition } from "@stepwell/testing/definitions.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type DocsPlace, docsAddresses } from "../../src/parts/layout/docs-addresses.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { press } from "./support/keyboard.ts";
import { deploy, newOwner, signInAt, submitAndWait } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
  const service = useService(home);

  const focused = (page: Page) => page.evaluate<string>("document.activeElement?.textContent ?? ''");
  const width = 360;
  const isNarrow = async (page: Page) => (await page.evaluate<number>("document.documentElement.scrollWidth")) <= width;

  test("a user finds an operation and a page by the search, on a telephone and with the keyboard alone", async () => {
    const page = await browser.newPage({ colorScheme: "dark", width });
    await page.goto(`${service.baseUrl}/docs`);
    await page.getByRole("searchbox", { name: "Search the documentation" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("submit job");
    await page.getByRole("status").filter({ hasText: "found" }).waitFor();
    await expectAccessible(page, "the index of the documentation with what was found");
    expect(await isNarrow(page)).toBe(true);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${service.baseUrl}/docs/api#SubmitJob`);
    await page.getByRole("heading", { name: "SubmitJob", exact: true }).waitFor();
    expect(await isNarrow(page)).toBe(true);

    await page.keyboard.press("/");
    await page.keyboard.type("exit codes");
    await page
      .getByRole("link", { name: /Exit codes/ })
      .first()
      .waitFor();
    await page.keyboard.press("ArrowDown");
    expect(await focused(page)).toContain("Exit codes");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Escape");
    expect(await page.locator("#found").isVisible()).toBe(false);
    await page.keyboard.press("Space");
    await page.locator("#found").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${service.baseUrl}/docs/cli#exit-codes`);
    await expectAccessible(page, "a page of the documentation");
    expect(await isNarrow(page)).toBe(true);
  });

  inWholeMatrix(() => {
    test("on a telephone the list of pages and the table of contents open by buttons, and close after a link", async () => {
      const page = await browser.newPage({ width });
      await page.goto(`${service.baseUrl}/docs/cli`);
      const contents = page.getByRole("navigation", { name: "On this page" });
      expect(await contents.isVisible()).toBe(false);
      await press(page.getByRole("button", { name: "On this page" }));
      await contents.waitFor();
      await expectAccessible(page, "the table of contents on a telephone");
      await press(contents.getByRole("link", { name: "Exit codes" }));
      await page.waitForURL(`${service.baseUrl}/docs/cli#exit-codes`);
      await contents.waitFor({ state: "hidden" });
      await press(page.getByRole("button", { name: "Pages" }));
      await press(page.getByRole("navigation", { name: "Documentation" }).getByRole("link", { name: "Executors" }));
      await page.getByRole("heading", { level: 1, name: "Executors" }).waitFor();
    });
  });

  inWholeMatrix(() => {
    test("the dashboard's links to the documentation lead to existing headings", async () => {
      for (const address of Object.values(docsAddresses)) {
        const [path = "", anchor] = address.split("#");
        const response = await fetch(service.baseUrl + path);
        expect([address, response.status]).toEqual([address, 200]);
        const isFound = anchor === undefined || (await response.text()).includes(` id="${anchor}"`);
        expect([address, isFound]).toEqual([address, true]);
      }
      const owner = await newOwner(service);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/settings/api-tokens`, owner);
      const [opened] = await Promise.all([
        page.context().waitForEvent("page"),
        page.getByRole("banner").getByRole("link", { name: "Documentation" }).click(),
      ]);
      await opened.waitForURL(`${service.baseUrl}/docs`);
      const link = page.getByRole("main").getByRole("link", { name: /^Documentation of API tokens/ });
      expect(await link.getAttribute("href")).toBe(docsAddresses.apiTokens);
    });

    test("on a telephone each page of the dashboard has one link to its documentation, which moves neither the heading nor the actions", async () => {
      const owner = await newOwner(service);
      const { workflowId, versionId } = await deploy(owner.api, waitingDefinition);
      const { jobId } = await submitAndWait(owner.api, workflowId);
      const page = await browser.newPage({ width });
      await signInAt(page, owner.url, owner);
      for (const [path, place, action] of placesOf({ workflowId, versionId, jobId })) {
        await page.goto(owner.url + path);
        const heading = page.getByRole("main").locator(".page-heading");
        const link = heading.getByRole("link", { name: /^Documentation of .+ \(opens a new tab\)$/ });
        await link.waitFor();
        expect([path, await link.getAttribute("href")]).toEqual([path, docsAddresses[place]]);
        expect([path, await isNarrow(page)]).toEqual([path, true]);
        if (action !== undefined) await heading.getByText(action, { exact: true }).waitFor();
        const { before, after } = await heading.evaluate(hideLink);
        expect([path, after]).toEqual([path, before]);
      }
    });

    test.each(["light", "dark"] as const)(
      "each page of the documentation follows the accessibility rules in %s, and is no wider than a telephone",
      async (colorScheme) => {
        const page = await browser.newPage({ colorScheme, width });
        await page.goto(`${service.baseUrl}/docs`);
        const addresses = await page
          .locator("#pages a")
          .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
        expect(addresses.length).toBeGreaterThan(10);
        for (const address of addresses) {
          await page.goto(address);
          await expectAccessible(page, address);
          expect([address, await isNarrow(page)]).toEqual([address, true]);
        }
      },
    );
  });
});

interface Shown {
  readonly workflowId: string;
  readonly versionId: string;
  readonly jobId: string;
}

/** Returns the size of a heading and the places of its actions, with the link to the documentation and without it. */
function hideLink(heading: Element) {
  const actions = heading.querySelectorAll(":scope > .row:not(:first-child) > *");
  const measure = () => JSON.stringify([heading, ...actions].map((element) => element.getBoundingClientRect()));
  const before = measure();
  heading.querySelector(".page-docs")?.remove();
  return { before, after: measure() };
}

/** The pages of the dashboard, each with the place in the documentation that explains it, and an action beside its heading if it has one. */
function placesOf({ workflowId, versionId, jobId }: Shown): readonly (readonly [string, DocsPlace, string?])[] {
  return [
    ["", "home"],
    ["/workflows", "workflows", "New workflow"],
    [`/workflows/${workflowId}`, "workflow", "Submit a job"],
    [`/workflows/${workflowId}/versions/${versionId}`, "version", "Edit as a new version"],
    [`/workflows/${workflowId}/edit`, "editor", "Register version"],
    [`/workflows/${workflowId}/tag-history?tag=$LIVE`, "tagHistory"],
    ["/jobs", "jobs"],
    [`/jobs/${jobId}`, "job", "Copy as curl"],
    ["/task-queues", "taskQueues"],
    ["/task-queues/thumbnails", "taskQueues"],
    ["/settings/api-tokens", "apiTokens"],
    ["/settings/members", "members"],
    ["/settings/invitations", "invitations"],
    ["/settings/roles", "roles"],
    ["/settings/oauth-clients", "oauthClients"],
    ["/settings/sign-in-providers", "signInProviders"],
    ["/settings/audit", "audit"],
    ["/settings/limits", "limits"],
    ["/../../account", "account"],
  ];
}
