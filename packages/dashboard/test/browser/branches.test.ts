import {
  definitionOf,
  forEachStep,
  noopStep,
  parallelStep,
  waitingDefinition,
  waitStep,
} from "@stepwell/testing/definitions.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { type BrowserOptions, testBrowser } from "./support/browser.ts";
import { walk } from "./support/keyboard.ts";
import { deploy, newOwner, signInAt, submitAndWait } from "./support/people.ts";

const browser = testBrowser();

/** Both branches wait for the same event. */
const sides = definitionOf(
  parallelStep("split", { left: "approve", right: "check" }, "ship"),
  waitStep("approve", ["approved"], "told"),
  noopStep("told", null),
  waitStep("check", ["approved"], null),
  noopStep("ship", null),
);

/** Bad items fail in their first step; the others wait. */
const orders = definitionOf(
  forEachStep("each", { items: "${ input.list }", step: "check", onItemFailure: "collect", concurrency: 40 }, null),
  { ...noopStep("check", "approve"), output: { id: "${ item.isBad ? input.no : item.id }" } },
  waitStep("approve", ["approved"], null),
);
const list = (count: number) => Array.from({ length: count }, (_, id) => ({ id: `order-${id}`, isBad: id % 20 === 3 }));

onOneStore((home) => {
  const service = useService(home);

  async function openJob(definition: string, input: object, options: BrowserOptions = {}) {
    const owner = await newOwner(service);
    const { workflowId } = await deploy(owner.api, definition);
    const { jobId } = await submitAndWait(owner.api, workflowId, input);
    const page = await browser.newPage(options);
    await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
    return { owner, jobId, page };
  }

  test("branches are drawn side by side in lanes, and an event is sent only to the explained branch", async () => {
    const { owner, jobId, page } = await openJob(sides, {}, { colorScheme: "dark" });
    await page.locator("text.graph-lane-label", { hasText: "branch left" }).waitFor();
    await page.locator("text.graph-lane-label", { hasText: "branch right" }).waitFor();
    expect(await page.locator("[data-step=told]").getAttribute("aria-description")).toBe(
      "In branch left of split. Leads to: the end of the branch",
    );
    await page.getByText(/In branch left \(split:1\[left\]\): approve has waited/).waitFor();
    await page.locator("[data-step=split]").getByText("0 of 2 done, 2 open").waitFor();
    await page.getByText("An event that you send here is only for approve in branch left.").waitFor();
    await expectAccessible(page, "a job with branches in dark");
    await page.getByRole("button", { name: "Send approved", exact: true }).click();
    await page.locator("[data-step=told]").getByText("Succeeded").waitFor();
    await page.getByText(/In branch right \(split:1\[right\]\): check has waited/).waitFor();
    await page.getByRole("button", { name: "Send approved", exact: true }).click();
    await page.getByText(/^The job succeeded/).waitFor();
    const { body } = await owner.api.call<{ events: object[] }>("ListJobEvents", { params: { jobId } });
    expect(body.events).toMatchObject([
      { step: "approve", branch: "split:1[left]" },
      { step: "check", branch: "split:1[right]" },
    ]);
  });

  inWholeMatrix(() => {
    test("a forEach is one node with its progress, and its items are listed, the failed ones first, and can be shown one by one", async () => {
      const { page } = await openJob(orders, { list: list(60) });
      await page.locator("[data-step=each]").getByText("0 of 60 done, 2 failed, 40 open").waitFor();
      await page.locator("[data-step=approve]").getByText("40 waiting").waitFor();
      const items = page.getByRole("region", { name: "Items of each" });
      const rows = items.getByRole("row");
      await rows.filter({ hasText: "check, ExpressionFailed" }).first().waitFor();
      const firstRows = async () =>
        (await rows.allInnerTexts()).slice(1, 4).map((text) => text.replaceAll(/\s+/g, " "));
      await expect
        .poll(firstRows)
        .toEqual([
          expect.stringMatching(/^item 3 Failed check, ExpressionFailed/),
          expect.stringMatching(/^item 23 Failed check, ExpressionFailed/),
          expect.stringMatching(/^item 0 Open approve/),
        ]);
      await items.getByRole("button", { name: "Show more items" }).click();
      await rows.filter({ hasText: "item 41" }).waitFor();
      await items.getByLabel("State").selectOption("Failed");
      await expect.poll(() => rows.count()).toBe(3);

      await items.getByRole("button", { name: "item 23" }).focus();
      await page.keyboard.press("Enter");
      await page.getByText("In item 23 of 60").waitFor();
      await page.locator("[data-step=check]", { hasText: /, Failed$/ }).waitFor();
      await page.locator("[data-step=approve]").getByText("Not reached").waitFor();
      expect(new URL(page.url()).searchParams.get("branch")).toBe("each:1[23]");
      await expectAccessible(page, "an item of a list");
      await page.getByRole("button", { name: "Show all branches" }).click();
      await page.locator("[data-step=approve]").getByText("40 waiting").waitFor();
    });

    test("the list of steps, the history, the timeline and the commands to copy all show the branch of each step", async () => {
      const { page } = await openJob(sides, {});
      await page.getByRole("radio", { name: "List" }).click();
      const steps = page.getByRole("table", { name: "Steps of the workflow" });
      await steps.getByRole("row", { name: /approve.*In branch left of split.*Waiting.*told/ }).waitFor();
      await steps.getByRole("row", { name: /split.*branch left: approve, branch right: check, then ship/ }).waitFor();
      await page.getByRole("button", { name: "approve (branch left)" }).waitFor();
      await page.getByRole("row", { name: /Waits for events check \(branch right\)/ }).waitFor();
      await page.getByRole("row", { name: /Branches begin split 2 branches/ }).waitFor();
      await page.getByRole("button", { name: "Copy as curl" }).click();
      await page.getByRole("menuitem", { name: "Send approved to branch right" }).waitFor();
    });

    test("a typed event goes to the chosen branch", async () => {
      const { owner, jobId, page } = await openJob(sides, {});
      await page.getByRole("button", { name: "Send an event" }).click();
      const dialog = page.getByRole("dialog", { name: "Send an event" });
      await dialog.getByLabel("Event", { exact: true }).fill("approved");
      await dialog.getByLabel("For").selectOption("check (branch right)");
      await expectAccessible(page, "an event for a branch");
      await dialog.getByRole("button", { name: "Send event" }).click();
      await page.locator("[data-step=check]").getByText("Succeeded").waitFor();
      const { body } = await owner.api.call<{ events: object[] }>("ListJobEvents", { params: { jobId } });
      expect(body.events).toMatchObject([{ branch: "split:1[right]", consumedByBranch: "split:1[right]" }]);
    });

    test("an event can go to each branch, even if the dialog was opened before the history had loaded", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, sides);
      const { jobId } = await submitAndWait(owner.api, workflowId);
      const page = await browser.newPage();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      await page.route(/\/stream\?|\/history/, async (route) => {
        await released;
        await route.continue();
      });
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.getByRole("button", { name: "Send an event" }).click();
      const dialog = page.getByRole("dialog", { name: "Send an event" });
      await dialog.getByLabel("Event", { exact: true }).fill("approved");
      await expect.poll(() => dialog.getByLabel("For").innerText()).toContain("approve (branch left)");
      release();
      await dialog.getByLabel("For").selectOption("check (branch right)");
      await dialog.getByRole("button", { name: "Send event" }).click();
      await page.locator("[data-step=check]").getByText("Succeeded").waitFor();
    });

    test("a typed event goes only to the branch that was shown, even if that branch no longer waits", async () => {
      browser.expectFault(/409/);
      const { owner, jobId, page } = await openJob(sides, {});
      await page.getByRole("button", { name: "Send an event" }).click();
      const dialog = page.getByRole("dialog", { name: "Send an event" });
      await dialog.getByLabel("Event", { exact: true }).fill("approved");
      await expect.poll(() => dialog.getByLabel("For").innerText()).toContain("approve (branch left)");
      const body = { eventId: "approved", step: "approve", visit: 1, branch: "split:1[left]" };
      await owner.api.call("SendJobEvent", { params: { jobId }, body });
      await page.locator("[data-step=told]").getByText("Succeeded").waitFor();
      await dialog.getByRole("button", { name: "Send event" }).click();
      await dialog.getByRole("alert").waitFor();
      const sent = await owner.api.call<{ events: object[] }>("ListJobEvents", { params: { jobId } });
      expect(sent.body.events).toMatchObject([{ branch: "split:1[left]" }]);
    });

    test("a waiting task shows its queue, and that no worker has asked for it", async () => {
      const any = { $ref: "#/definitions/any" };
      const integrationDetails = {
        type: "/service/task",
        config: { queue: "resize" },
        inputDefinition: any,
        outputDefinition: any,
      };
      const owner = await newOwner(service);
      const { workflowId } = await deploy(
        owner.api,
        definitionOf({ name: "work", integrationDetails, transitionToStep: null }),
      );
      const { body } = await owner.api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${body.jobId}`, owner);
      const explanation = page.getByRole("region", { name: "Why is it here?" });
      await explanation.getByRole("heading", { name: "Waits for a worker" }).waitFor();
      await explanation.getByText("resize, no worker has asked for tasks for at least a day").waitFor();
      await expectAccessible(page, "a task that waits");
    });

    test("a parent job's page links to its child job and shows the child's state, and the child job links back to the step that started it", async () => {
      const owner = await newOwner(service);
      const child = await deploy(owner.api, waitingDefinition);
      const any = { $ref: "#/definitions/any" };
      const config = { workflow: child.workflowId };
      const integrationDetails = { type: "/service/job", config, inputDefinition: any, outputDefinition: any };
      const parent = await deploy(
        owner.api,
        definitionOf(parallelStep("split", { left: "settle" }, null), {
          name: "settle",
          integrationDetails,
          transitionToStep: null,
        }),
      );
      const { body } = await owner.api.call<{ jobId: string }>("SubmitJob", {
        body: { workflowId: parent.workflowId },
      });
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${body.jobId}`, owner);
      const children = page.getByRole("region", { name: "Child jobs" });
      await children.getByRole("row", { name: /Waiting settle \(branch left\)/ }).waitFor();
      await page.locator("[data-step=settle]").click();
      await page.locator(".step-children").getByText("Waiting").waitFor();
      await expectAccessible(page, "a job with a child");
      await children.getByRole("link").click();
      await page.getByRole("button", { name: "Send approved", exact: true }).click();
      await page.getByText(/^The job succeeded/).waitFor();
      await page.getByRole("link", { name: "settle of another job" }).click();
      await page.getByText("In branch left").first().waitFor();
      await children.getByText("Succeeded").waitFor();
    });

    test("the graph beside the editor also draws branches", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, sides);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows/${workflowId}/edit`, owner);
      await page.locator("text.graph-lane-label", { hasText: "branch right" }).waitFor();
      await page.getByText("The definition is valid").waitFor();
      await expectAccessible(page, "the editor of branches");
    });

    test("arrow keys lead into branches and out of them", async () => {
      const { page } = await openJob(sides, {});
      await page.locator("[data-step=approve]").waitFor();
      await page.locator("[data-step=split]").focus();
      for (const [key, to] of [
        ["ArrowDown", "approve"],
        ["ArrowDown", "told"],
        ["ArrowUp", "approve"],
        ["ArrowUp", "split"],
        ["ArrowDown", "check"],
      ] as const) {
        await walk(page, key, to);
      }
    });

    test.each(["light", "dark"] as const)(
      "no part of the page is wider than a telephone, in %s",
      async (colorScheme) => {
        for (const [definition, input] of [
          [sides, {}],
          [orders, { list: list(60) }],
        ] as const) {
          const { page } = await openJob(definition, input, { colorScheme, width: 360 });
          await page.locator("text.graph-lane-label").first().waitFor();
          expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
          await expectAccessible(page, `branches on a telephone in ${colorScheme}`);
        }
      },
    );
  });
});
