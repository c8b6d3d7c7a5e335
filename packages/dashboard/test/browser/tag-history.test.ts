import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { registerVersion } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, type Owner, signInAt } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
  const service = useService(home);

  /** Deploys version 1, so that `$LIVE` points to it, then registers these definitions and points `$LIVE` to the newest version. */
  async function movedTag(owner: Owner, definitions: readonly string[]) {
    const first = await deploy(owner.api, straightDefinition);
    const { workflowId } = first;
    let last = first;
    for (const definition of definitions) last = await registerVersion(owner.api, workflowId, definition);
    const tag = { workflowId, tag: "$LIVE" };
    await owner.api.call("SetWorkflowVersionTag", { params: tag, body: { versionId: last.versionId } });
    const pointsAt = async () =>
      (await owner.api.call<{ versionNumber: number }>("GetTaggedWorkflowVersion", { params: tag })).body.versionNumber;
    return { workflowId, tag, pointsAt };
  }

  const moves = async (page: Page) => await page.getByRole("row").locator("td:first-child").allInnerTexts();

  test("a tag's history shows each move and who made it, and the tag can be moved back by keyboard", async () => {
    const owner = await newOwner(service);
    const { workflowId, pointsAt } = await movedTag(owner, [waitingDefinition]);
    const page = await browser.newPage();
    await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
    await page.getByRole("link", { name: "History of $LIVE" }).press("Enter");
    await page.waitForURL(/tag-history\?tag=(\$|%24)LIVE$/);
    await page.getByRole("cell", { name: "v1 → v2" }).waitFor();
    expect(await moves(page)).toEqual(["v1 → v2", "new → v1"]);
    expect(await page.getByRole("cell", { name: "you" }).count()).toBe(2);

    await page.getByRole("button", { name: "Move back $LIVE to version 1" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "Point a tag at a version" });
    await dialog.getByText("$LIVE: version 2 → version 1").waitFor();
    await dialog.getByRole("button", { name: "Point $LIVE at version 1" }).press("Enter");
    await page.getByRole("cell", { name: "v2 → v1" }).waitFor();
    expect(await moves(page)).toEqual(["v2 → v1", "v1 → v2", "new → v1"]);
    expect(await pointsAt()).toBe(1);
    await page.getByRole("link", { name: /^Back to/ }).press("Enter");
    await page.getByRole("cell", { name: "Version 1", exact: true }).first().waitFor();
  });

  inWholeMatrix(() => {
    test("a deleted tag can be restored from its history, also to a version that is not at the beginning of any list", async () => {
      const owner = await newOwner(service);
      const definitions = Array.from({ length: 51 }, () => straightDefinition);
      const { workflowId, tag, pointsAt } = await movedTag(owner, definitions);
      await owner.api.call("DeleteTag", { params: tag });
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows/${workflowId}/tag-history?tag=$LIVE`, owner);
      await page.getByRole("cell", { name: "v52 → deleted" }).waitFor();
      await page.getByRole("button", { name: "Move back $LIVE to version 1", exact: true }).press("Enter");
      const dialog = page.getByRole("dialog", { name: "Point a tag at a version" });
      await dialog.getByText("$LIVE: new → version 1", { exact: true }).waitFor();
      await dialog.getByRole("button", { name: "Point $LIVE at version 1" }).press("Enter");
      await page.getByRole("cell", { name: "new → v1" }).nth(1).waitFor();
      expect(await pointsAt()).toBe(1);
    });

    test("a user who can only read sees the history, and no action that moves the tag", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await movedTag(owner, [waitingDefinition]);
      const viewer = await newOwner(service, "Elsewhere");
      await service.addMember(owner.organizationId, viewer.userId, ["viewer"]);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows/${workflowId}/tag-history?tag=$LIVE`, viewer);
      await page.getByRole("cell", { name: "v1 → v2" }).waitFor();
      expect(await page.getByRole("main").getByRole("button").count()).toBe(0);
    });

    test.each(["light", "dark"] as const)(
      "the history of a tag follows the accessibility rules in %s, and is no wider than a telephone",
      async (colorScheme) => {
        const owner = await newOwner(service);
        const { workflowId } = await movedTag(owner, [waitingDefinition]);
        const page = await browser.newPage({ colorScheme, width: 360 });
        await signInAt(page, `${owner.url}/workflows/${workflowId}/tag-history?tag=$LIVE`, owner);
        await page.getByRole("cell", { name: "v1 → v2" }).waitFor();
        await expectAccessible(page, `the history of a tag in ${colorScheme}`);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
      },
    );
  });
});
