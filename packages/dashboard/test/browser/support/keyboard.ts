import type { Locator } from "playwright-core";

/** More than any page has places for the focus. */
const mostTabs = 120;

/** Goes there as somebody without a mouse does. Throws where Tab does not lead there. */
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
