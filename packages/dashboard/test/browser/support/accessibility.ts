import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Checks the current state of the page against axe's best practices and the rules of WCAG 2.2 A and AA that a program can check. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  // axe is still in the page if the page has only changed its address since the last check, without a new document.
  if (!(await page.evaluate(`"axe" in window`))) await page.evaluate(axe.source);
  const violations = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => [id, target.join(" "), failureSummary].join(": "))))`)) as string[];
  expect(violations, what).toEqual([]);
}

const options = {
  resultTypes: ["violations"],
  runOnly: {
    type: "tag",
    values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"],
  },
  // Menus are at the end of the page, outside all landmarks. Users reach them from their buttons.
  rules: { region: { enabled: false } },
};
