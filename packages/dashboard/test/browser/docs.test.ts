import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { docsAddresses } from "../../src/parts/words/docs-addresses.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { press } from "./support/keyboard.ts";
import { deploy, newOwner, signInAt } from "./support/people.ts";

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

  test("the dashboard's links to the documentation lead to existing headings", async () => {
    for (const address of Object.values(docsAddresses)) {
      const [path = "", anchor] = address.split("#");
      const response = await fetch(service.baseUrl + path);
      expect([address, response.status]).toEqual([address, 200]);
      if (anchor !== undefined) expect(await response.text()).toContain(` id="${anchor}"`);
    }
    const owner = await newOwner(service);
    const page = await browser.newPage();
    await signInAt(page, `${owner.url}/settings/api-tokens`, owner);
    const [opened] = await Promise.all([
      page.context().waitForEvent("page"),
      page.getByRole("banner").getByRole("link", { name: "Documentation" }).click(),
    ]);
    await opened.waitForURL(`${service.baseUrl}/docs`);
    const link = page.getByRole("main").getByRole("link", { name: /^API reference/ });
    expect(await link.getAttribute("href")).toBe("/docs/api");
    await page.goto(`${owner.url}/task-queues`);
    await page.getByRole("link", { name: /^Workers and queues/ }).waitFor();
  });

  inWholeMatrix(() => {
    test("the editor links to the page about definitions", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, straightDefinition);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows/${workflowId}/edit`, owner);
      const link = page.getByRole("link", { name: /^How definitions are written/ });
      expect(await link.getAttribute("href")).toBe("/docs/definitions");
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
