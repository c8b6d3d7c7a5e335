import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** More than the number of focusable elements on any page. */
const mostTabs = 120;

/** Moves the focus to the element with Tab. Throws if Tab does not reach it. */
export async function tabTo(target: Locator): Promise<void> {
  await target.waitFor();
  const page = target.page();
  const focused = target.and(page.locator(":focus"));
  for (let left = mostTabs; left > 0; left -= 1) {
    if ((await focused.count()) > 0) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not lead to ${target}.`);
}

export async function press(target: Locator): Promise<void> {
  await tabTo(target);
  await target.page().keyboard.press("Enter");
}

/** Chooses from a list with the arrow key, because typed text is not reliable: a list forgets it when nothing is typed for a second. */
export async function choose(list: Locator, text: string): Promise<void> {
  const chosen = () => list.locator("option:checked").innerText();
  await list.press("Home");
  for (let left = mostOptions; left > 0; left -= 1) {
    const before = await chosen();
    if (before === text) return;
    await list.press("ArrowDown");
    await expect.poll(chosen, { message: `ArrowDown leads no further than "${before}".` }).not.toBe(before);
  }
  throw new Error(`ArrowDown does not lead to "${text}".`);
}

const mostOptions = 60;

/** Presses a key that moves from one step of a graph to another, and waits until the focus is there. */
export async function walk(page: Page, key: string, to: string): Promise<void> {
  await page.keyboard.press(key);
  await expect.poll(() => page.evaluate("document.activeElement?.dataset.step")).toBe(to);
}
