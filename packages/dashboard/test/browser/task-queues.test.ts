import type { Client } from "@stepwell/testing/client.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startWorker } from "../../src/parts/words/first-commands.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { press, tabTo } from "./support/keyboard.ts";
import { newOwner, signInAt } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
  const service = useService(home);

  async function submitTask(api: Client, queue: string, body: object = {}): Promise<string> {
    return (await api.call<{ jobId: string }>("SubmitTask", { params: { queue }, body })).body.jobId;
  }

  /** Takes one task, and reports some progress. */
  async function workOn(api: Client, queue: string): Promise<{ taskId: string; jobId: string }> {
    const poll = { params: { queue }, body: { worker: "render-1" } };
    const { tasks } = (await api.call<{ tasks: { taskId: string; jobId: string }[] }>("PollTasks", poll)).body;
    const [task] = tasks;
    if (task === undefined) throw new Error(`No task waits in ${queue}.`);
    await api.call("HeartbeatTask", { params: { taskId: task.taskId }, body: { progress: { done: 3, of: 8 } } });
    return task;
  }

  const isPaused = async (api: Client, queue: string) =>
    "pausedAt" in (await api.call("GetTaskQueue", { params: { queue } })).body;

  const panel = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

  test("a queue's page shows its tasks and workers live, and pauses and resumes the queue after a question", async () => {
    const owner = await newOwner(service);
    const { api } = owner;
    await submitTask(api, "thumbnails");
    const page = await browser.newPage();
    await signInAt(page, owner.url, owner);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Queues" }).click();
    const row = page.getByRole("row", { name: /^thumbnails/ });
    await row.getByText("No worker").waitFor();
    await row.getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "thumbnails" }).waitFor();
    await panel(page, "Workers").getByText(startWorker).waitFor();
    await panel(page, "Waiting tasks").getByRole("link", { name: "stepwell-task" }).waitFor();

    const { jobId } = await workOn(api, "thumbnails");
    const held = panel(page, "Held tasks").getByRole("row", { name: /render-1/ });
    await held.getByText('{"done":3,"of":8}').waitFor();
    await panel(page, "Waiting tasks").getByText("No task waits").waitFor();
    await panel(page, "Workers").getByRole("cell", { name: "render-1" }).waitFor();
    await expectAccessible(page, "the page of a task queue");

    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog", { name: "Pause thumbnails?" }).getByRole("button", { name: "Pause queue" }).click();
    await page.getByText("thumbnails is paused").waitFor();
    await panel(page, "Now").getByText("Paused").waitFor();
    expect(await isPaused(api, "thumbnails")).toBe(true);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Resume queue" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    expect(await isPaused(api, "thumbnails")).toBe(false);

    await held.getByRole("link").click();
    await page.waitForURL(`${owner.url}/jobs/${jobId}`);
  });

  inWholeMatrix(() => {
    test.each(["light", "dark"] as const)(
      "the pages of task queues follow the accessibility rules in %s, and are no wider than a telephone",
      async (colorScheme) => {
        const owner = await newOwner(service);
        const page = await browser.newPage({ colorScheme, width: 360 });
        const isNarrow = async () => (await page.evaluate<number>("document.documentElement.scrollWidth")) <= 360;
        await signInAt(page, `${owner.url}/task-queues`, owner);
        await page.getByText("No task queue yet").waitFor();
        const links = await page.getByRole("navigation", { name: "Main" }).getByRole("link").all();
        const boxes = await Promise.all(links.map((link) => link.boundingBox()));
        expect(new Set(boxes.map((box) => box?.y)).size).toBe(1);
        expect(boxes[0]?.height).toBeLessThan(44);
        await expectAccessible(page, `no task queue in ${colorScheme}`);
        expect(await isNarrow()).toBe(true);

        const queue = `a-queue-with-a-rather-long-name-${"x".repeat(60)}`;
        for (const name of [queue, queue, "short"]) await submitTask(owner.api, name);
        await workOn(owner.api, queue);
        await page.getByRole("link", { name: queue }).waitFor();
        await page.getByRole("row", { name: /^short No worker/ }).waitFor();
        await expectAccessible(page, `the task queues in ${colorScheme}`);
        expect(await isNarrow()).toBe(true);
        await page.getByRole("link", { name: queue }).click();
        await panel(page, "Waiting tasks").getByRole("link").waitFor();
        await panel(page, "Held tasks")
          .getByText(/"done":3/)
          .waitFor();
        await expectAccessible(page, `a task queue in ${colorScheme}`);
        expect(await isNarrow()).toBe(true);
        await page.getByRole("button", { name: "Pause" }).click();
        await page.getByRole("dialog").waitFor();
        await expectAccessible(page, `the question before a pause in ${colorScheme}`);
      },
    );

    test("a queue can be found and paused by keyboard alone, and the focus returns to its former place", async () => {
      const owner = await newOwner(service);
      await submitTask(owner.api, "thumbnails");
      const page = await browser.newPage();
      await signInAt(page, owner.url, owner);
      await press(page.getByRole("link", { name: "Queues" }));
      await press(page.getByRole("main").getByRole("link", { name: "thumbnails" }));
      await press(page.getByRole("button", { name: "Pause" }));
      await press(page.getByRole("button", { name: "Pause queue" }));
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await tabTo(page.getByRole("button", { name: "Resume" }));
      expect(await isPaused(owner.api, "thumbnails")).toBe(true);
    });

    test("a user who can only read sees no pause action, and a user who cannot read sees the needed permission", async () => {
      const owner = await newOwner(service);
      await submitTask(owner.api, "thumbnails");
      const [viewer, deployer] = [await newOwner(service, "One"), await newOwner(service, "Two")];
      await service.addMember(owner.organizationId, viewer.userId, ["viewer"]);
      await service.addMember(owner.organizationId, deployer.userId, ["ci"]);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/task-queues/thumbnails`, viewer);
      await panel(page, "Waiting tasks").getByRole("link").waitFor();
      expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
      for (const path of ["task-queues", "task-queues/thumbnails"]) {
        const other = await browser.newPage();
        await signInAt(other, `${owner.url}/${path}`, deployer);
        await other.getByText("task-queue:read").waitFor();
      }
    });

    test("a name that no queue can have is reported with the reason", async () => {
      browser.expectFault(/400/);
      const owner = await newOwner(service);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/task-queues/.hidden`, owner);
      await page.getByRole("alert").waitFor();
    });

    test("a list of which a user has loaded more pages stays unchanged until the user asks for the latest entries", async () => {
      const owner = await newOwner(service);
      for (let count = 0; count < 120; count += 1) await submitTask(owner.api, "many");
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/task-queues/many`, owner);
      const waiting = panel(page, "Waiting tasks");
      await waiting.getByRole("row").nth(20).waitFor();
      await expect
        .poll(async () => {
          await page.mouse.wheel(0, 2_000);
          return await waiting.getByText("120 rows, all shown").count();
        })
        .toBe(1);
      const urgent = await submitTask(owner.api, "many", { priority: 9 });
      await waiting.getByRole("button", { name: "Show the latest" }).click();
      await waiting.locator(`a[href$="/${urgent}"]`).waitFor();
    });
  });
});
