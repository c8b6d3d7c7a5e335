import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { registerVersion } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, test } from "vitest";
import { deploySample } from "../../src/parts/words/first-commands.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, signInAt } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
  const service = useService(home);

  test("a tag can be moved and moved back by keyboard alone, in a dialog that shows the old and the new version and their differences", async () => {
    const owner = await newOwner(service);
    const { workflowId, versionId } = await deploy(owner.api, straightDefinition);
    const newer = await registerVersion(owner.api, workflowId, waitingDefinition);
    const live = async () =>
      (
        await owner.api.call<{ versionId: string }>("GetTaggedWorkflowVersion", {
          params: { workflowId, tag: "$LIVE" },
        })
      ).body.versionId;
    const page = await browser.newPage();
    await signInAt(page, `${owner.url}/workflows`, owner);
    const link = page.getByRole("main").getByRole("row").nth(1).getByRole("link");
    await link.focus();
    await page.keyboard.press("Enter");

    const move = page.getByRole("button", { name: "Move $LIVE" });
    await move.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Point a tag at a version" });
    await dialog.getByText("$LIVE: version 1 → version 2").waitFor();
    const diff = dialog.getByRole("region", { name: "What changes in the definition" });
    await diff.locator("ins").first().waitFor();
    expect(await diff.locator("ins").allInnerTexts()).toContainEqual(expect.stringContaining("waitForEventIds"));
    await expectAccessible(page, "the dialog that moves a tag");
    await dialog.getByLabel("Tag").focus();
    await page.keyboard.press("Enter");
    await page.getByText("$LIVE points at version 2 now").waitFor();
    await dialog.waitFor({ state: "detached" });
    expect(await live()).toBe(newer.versionId);
    // The focus is back on the button that opened the dialog.
    await expect.poll(() => page.evaluate("document.activeElement?.getAttribute('aria-label')")).toBe("Move $LIVE");

    await page.getByRole("button", { name: "Undo" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("cell", { name: "Version 1", exact: true }).first().waitFor();
    await expect.poll(live, { timeout: 10_000 }).toBe(versionId);
  });

  /** A workflow with three versions, of which the first is `$LIVE`. The function `set` moves a tag as somebody else would. */
  async function threeVersions() {
    const owner = await newOwner(service);
    const { workflowId, versionId } = await deploy(owner.api, straightDefinition);
    const second = await registerVersion(owner.api, workflowId, waitingDefinition);
    const third = await registerVersion(owner.api, workflowId, waitingDefinition);
    const set = (tag: string, to: string) =>
      owner.api.call("SetWorkflowVersionTag", { params: { workflowId, tag }, body: { versionId: to } });
    const versionOf = async (tag: string) =>
      (await owner.api.call<{ versionNumber: number }>("GetTaggedWorkflowVersion", { params: { workflowId, tag } }))
        .body.versionNumber;
    const page = await browser.newPage();
    await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
    const versionIds = [versionId, second.versionId, third.versionId] as const;
    return { page, dialog: page.getByRole("dialog"), set, versionOf, versionIds };
  }

  inWholeMatrix(() => {
    test("a tag is moved only from the version that the dialog shows", async () => {
      const { page, dialog, set, versionOf, versionIds } = await threeVersions();
      await page.getByRole("button", { name: "Move $LIVE" }).click();
      await dialog.getByLabel("Version").selectOption("Version 3");
      await dialog.getByText("$LIVE: version 1 → version 3").waitFor();
      await set("$LIVE", versionIds[1]);
      await dialog.getByRole("button", { name: "Point $LIVE at version 3" }).click();
      await dialog.getByText("It was changed after this page showed it to you").waitFor();
      expect(await versionOf("$LIVE")).toBe(2);
      // The dialog shows the present version, so the user can decide anew.
      await dialog.getByText("$LIVE: version 2 → version 3").waitFor();
      await dialog.getByRole("button", { name: "Point $LIVE at version 3" }).click();
      await page.getByText("$LIVE points at version 3 now").waitFor();
    });

    test("a tag that the page takes for new is not set if somebody else has created it meanwhile", async () => {
      browser.expectFault(/412/);
      const { page, dialog, set, versionOf, versionIds } = await threeVersions();
      await page.getByRole("button", { name: "Tag version 3" }).click();
      await dialog.getByLabel("Tag").fill("beta");
      await dialog.getByText("beta: new → version 3").waitFor();
      await set("beta", versionIds[1]);
      await dialog.getByRole("button", { name: "Point beta at version 3" }).click();
      await dialog.getByText("It was changed after this page showed it to you").waitFor();
      expect(await versionOf("beta")).toBe(2);
    });

    test("a tag that somebody else has moved is not deleted", async () => {
      const { page, dialog, set, versionOf, versionIds } = await threeVersions();
      await page.getByRole("button", { name: "Delete the tag $LIVE" }).click();
      await set("$LIVE", versionIds[1]);
      await dialog.getByRole("button", { name: "Delete" }).click();
      await dialog.getByText("It was changed after this page showed it to you").waitFor();
      expect(await versionOf("$LIVE")).toBe(2);
    });

    test("an undo takes back only the user's own change of a tag, and not what somebody else did since then", async () => {
      browser.expectFault(/412/);
      const { page, dialog, set, versionOf, versionIds } = await threeVersions();
      const undo = async (tag: string) => {
        await page.getByRole("button", { name: "Undo" }).click();
        const text = `This was not undone, because somebody else changed the tag ${tag} meanwhile.`;
        // A later undo of the same tag shows the same text again, so this message is closed.
        await page.locator(".toast").filter({ hasText: text }).getByRole("button", { name: "Dismiss" }).click();
        expect(await versionOf(tag)).toBe(2);
      };
      await page.getByRole("button", { name: "Tag version 3" }).click();
      await dialog.getByRole("button", { name: "Point $LIVE at version 3" }).click();
      await page.getByText("$LIVE points at version 3 now").waitFor();
      await set("$LIVE", versionIds[1]);
      await undo("$LIVE");
      await page.getByRole("button", { name: "Tag version 3" }).click();
      await dialog.getByLabel("Tag").fill("beta");
      await dialog.getByRole("button", { name: "Point beta at version 3" }).click();
      await page.getByText("beta points at version 3 now").waitFor();
      await set("beta", versionIds[1]);
      await undo("beta");
      await page.getByRole("button", { name: "Delete the tag beta" }).click();
      await dialog.getByRole("button", { name: "Delete" }).click();
      await page.getByText("The tag beta is deleted").waitFor();
      await set("beta", versionIds[1]);
      await undo("beta");
    });

    test("a deleted workflow is gone from the list when the user returns to it", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, waitingDefinition);
      await deploy(owner.api, waitingDefinition);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows`, owner);
      await page.locator(`a[href$="/${workflowId}"]`).click();
      await page.getByRole("button", { name: "Delete workflow" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete workflow" }).click();
      await page.getByRole("heading", { level: 1, name: "Workflows" }).waitFor();
      await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
      expect(await page.locator(`a[href$="/${workflowId}"]`).count()).toBe(0);
    });

    test("a dialog that opens again does not show the error of the earlier attempt", async () => {
      browser.expectFault(/500/);
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, waitingDefinition);
      const page = await browser.newPage();
      await page.route("**/workflows{,/*}", (route) =>
        route.request().method() === "GET" ? route.continue() : route.fulfill({ status: 500 }),
      );
      const dialog = page.getByRole("dialog");
      const expectAnew = async (open: string) => {
        await dialog.getByRole("alert").waitFor();
        await dialog.getByRole("button", { name: "Cancel" }).click();
        await page.getByRole("button", { name: open }).click();
        await dialog.waitFor();
        expect(await dialog.getByRole("alert").count()).toBe(0);
        await dialog.getByRole("button", { name: "Cancel" }).click();
      };
      await signInAt(page, `${owner.url}/workflows`, owner);
      await page.getByRole("button", { name: "New workflow" }).click();
      await dialog.getByLabel("Name").fill("orders");
      await dialog.getByLabel("Name").press("Enter");
      await expectAnew("New workflow");
      await page.locator(`a[href$="/${workflowId}"]`).click();
      await page.getByRole("button", { name: "Delete workflow" }).click();
      await dialog.getByRole("button", { name: "Delete workflow" }).click();
      await expectAnew("Delete workflow");
    });

    test("a tag at the newest version can be moved back, no dialog covers the undo button, and deletion comes last", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, straightDefinition);
      const { versionId } = await registerVersion(owner.api, workflowId, waitingDefinition);
      await owner.api.call("SetWorkflowVersionTag", { params: { workflowId, tag: "$LIVE" }, body: { versionId } });
      const page = await browser.newPage({ width: 360 });
      await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
      const actions = page.locator(".page-heading > .row:last-child").locator("a, button");
      await actions.last().waitFor();
      await expect.poll(() => actions.allInnerTexts()).toEqual(["Edit", "Submit a job", "Delete workflow"]);
      await page.getByRole("button", { name: "Move $LIVE" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("$LIVE: version 2 → version 1").waitFor();
      await dialog.getByRole("button", { name: "Point $LIVE at version 1" }).click();
      await page.getByRole("button", { name: "Undo" }).waitFor();
      await page.getByRole("button", { name: "Move $LIVE" }).click();
      await dialog.getByText("$LIVE: version 1 → version 2").waitFor();
      const layers = await page.evaluate(
        `[".toasts", ".dialog-overlay"].map((name) => Number(getComputedStyle(document.querySelector(name)).zIndex))`,
      );
      expect(layers).toEqual([30, 40]);
    });

    test("a tag that is not on the first page of tags is moved, and not taken for a new one", async () => {
      const owner = await newOwner(service);
      const { workflowId, versionId } = await deploy(owner.api, straightDefinition);
      await owner.api.call("SetWorkflowVersionTag", { params: { workflowId, tag: "stable" }, body: { versionId } });
      await registerVersion(owner.api, workflowId, waitingDefinition);
      const page = await browser.newPage();
      // With one tag on each page of the list, two tags are enough for a second page.
      await page.route("**/tags?*", (route) =>
        route.continue({ url: route.request().url().replace("pageSize=200", "pageSize=1") }),
      );
      await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
      await page.getByRole("button", { name: "Move $LIVE" }).waitFor();
      await page.getByRole("button", { name: "Move stable" }).click();
      await page.getByRole("dialog").getByText("stable: version 1 → version 2").waitFor();
    });

    test("a version is tagged with $LIVE by default, or with a name that the user types if it is $LIVE already", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, straightDefinition);
      await registerVersion(owner.api, workflowId, waitingDefinition);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
      const dialog = page.getByRole("dialog", { name: "Point a tag at a version" });
      await page.getByRole("button", { name: "Tag version 2" }).click();
      await dialog.getByText("$LIVE: version 1 → version 2").waitFor();
      expect(await dialog.getByLabel("Tag").inputValue()).toBe("$LIVE");
      await dialog.getByRole("button", { name: "Cancel" }).click();

      await page.getByRole("button", { name: "Tag version 1" }).click();
      await dialog.getByText("Version 1 ($LIVE)").waitFor({ state: "attached" });
      expect(await dialog.getByLabel("Tag").inputValue()).toBe("");
      expect(await dialog.getByText("A tag cannot have this name.").count()).toBe(0);
      expect(await dialog.getByRole("button", { name: "Tag", exact: true }).isDisabled()).toBe(true);
      await expectAccessible(page, "the dialog that tags a version, without a name yet");
      await dialog.getByLabel("Tag").fill("beta");
      await dialog.getByRole("button", { name: "Point beta at version 1" }).click();
      await page.getByText("beta points at version 1 now").waitFor();
    });

    test("an undo that fails is reported with its reason", async () => {
      browser.expectFault(/500/);
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, waitingDefinition);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
      await page.getByRole("button", { name: "Delete the tag $LIVE" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByRole("button", { name: "Undo" }).waitFor();
      await page.route("**/tags/*", (route) => route.fulfill({ status: 500 }));
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText(/answered 500/).waitFor();
    });

    test("an organization that does not exist is reported as such, on its first page too", async () => {
      browser.expectFault(/404/);
      const owner = await newOwner(service);
      const page = await browser.newPage();
      await signInAt(page, owner.url.replace(owner.organizationId, "01900000-0000-7000-8000-000000000000"), owner);
      await page.getByRole("alert").waitFor();
      expect(await page.getByText("Loading").count()).toBe(0);
    });

    test("an organization without a workflow sees how to begin, with the commands to copy", async () => {
      const owner = await newOwner(service);
      const page = await browser.newPage();
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await signInAt(page, owner.url, owner);
      await page.getByRole("button", { name: "Copy" }).first().click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(deploySample);
    });

    test("the page of a version shows the purpose of its definition, and formats a definition that was sent on one line", async () => {
      const owner = await newOwner(service);
      const definition = JSON.stringify({ ...JSON.parse(straightDefinition), description: "For orders from abroad." });
      const { workflowId, versionId } = await deploy(owner.api, definition);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows/${workflowId}/versions/${versionId}`, owner);
      await page.getByText("For orders from abroad.", { exact: true }).waitFor();
      expect(await page.locator("pre.definition").innerText()).toContain(
        '\n  "description": "For orders from abroad."',
      );
    });

    test("a user who can only read sees no action", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, straightDefinition);
      const viewer = await newOwner(service, "Elsewhere");
      await service.addMember(owner.organizationId, viewer.userId, ["viewer"]);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows/${workflowId}`, viewer);
      await page.getByRole("link", { name: "Version 1" }).waitFor();
      expect(await page.getByRole("button", { name: /Move|Tag version|Delete/ }).count()).toBe(0);
    });

    test("a user of two organizations can switch between them, and a workflow of the other one is not found here", async () => {
      browser.expectFault(/404/);
      const owner = await newOwner(service, "First");
      const second = await newOwner(service, "Second");
      await service.addMember(second.organizationId, owner.userId, ["owner"]);
      const { workflowId } = await deploy(second.api, straightDefinition);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
      await page.getByRole("alert").getByText("There is nothing at this address").waitFor();
      await page.getByRole("button", { name: "Organization: First" }).click();
      await page.getByRole("menuitemradio", { name: "Second" }).click();
      await page.waitForURL(second.url);
      await page.getByRole("button", { name: "Organization: Second" }).waitFor();
    });
  });
});
