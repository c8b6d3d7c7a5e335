import { failingDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { useService } from "@stepwell/testing/service.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, type Owner, signInAt, submitAndWait } from "./support/people.ts";

const browser = testBrowser();

// The look of a page does not depend on the store.
describe("in their normal appearance", () => {
  const service = useService(postgresHome);

  /** An organization in which something waits, something failed, and a tag can be moved. */
  async function busyOwner() {
    const owner = await newOwner(service);
    const waiting = await deploy(owner.api, waitingDefinition);
    const failing = await deploy(owner.api, failingDefinition);
    await submitAndWait(owner.api, waiting.workflowId);
    await submitAndWait(owner.api, failing.workflowId);
    return { owner, waiting, failing };
  }

  test.each(["light", "dark"] as const)("every page follows the accessibility rules in %s", async (colorScheme) => {
    const { owner, waiting } = await busyOwner();
    const page = await browser.newPage({ colorScheme });
    await signInAt(page, owner.url, owner);
    for (const { path, shown } of pagesOf(waiting)) {
      await goTo(page, owner, path);
      await shown(page);
      await expectAccessible(page, `${path} in ${colorScheme}`);
    }
    await page.getByRole("button", { name: "Theme" }).click();
    await page.getByRole("menu").waitFor();
    await expectAccessible(page, "a menu");
  });

  test("no page is wider than a telephone", async () => {
    const { owner, waiting } = await busyOwner();
    const page = await browser.newPage({ width: 360 });
    await signInAt(page, owner.url, owner);
    for (const { path, shown } of pagesOf(waiting)) {
      await goTo(page, owner, path);
      await shown(page);
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(360);
    }
  });
});

interface Deployed {
  readonly workflowId: string;
  readonly versionId: string;
}

/** The pages, each with an element that shows that the page is complete. */
function pagesOf({ workflowId, versionId }: Deployed) {
  const has = (role: "cell" | "link" | "button" | "heading", name: string | RegExp) => async (page: Page) =>
    await page.getByRole(role, { name }).first().waitFor();
  return [
    { path: "", shown: has("cell", /InputMismatch/) },
    { path: "/workflows", shown: has("cell", /v1/) },
    { path: `/workflows/${workflowId}`, shown: has("link", "Version 1") },
    { path: `/workflows/${workflowId}/versions/${versionId}`, shown: has("heading", "Definition") },
    { path: "/task-queues", shown: has("heading", "Task queues") },
    { path: "/nothing-here", shown: has("heading", "There is no such page") },
  ];
}

/** Changes the address within the page, as a link does, so that no new sign-in is needed. */
async function goTo(page: Page, { url }: Owner, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, "", ${JSON.stringify(url + path)}); dispatchEvent(new PopStateEvent("popstate"))`,
  );
}
