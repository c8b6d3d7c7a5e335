import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findChromium } from "@stepwell/testing/find-chromium.ts";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

export const looks = [
  { name: "light", colorScheme: "light", width: 1_280 },
  { name: "dark", colorScheme: "dark", width: 1_280 },
  { name: "narrow", colorScheme: "light", width: 360 },
] as const;

export type Look = (typeof looks)[number];

/** Takes pictures of pages into a directory, and counts them. */
export class Camera {
  readonly directory: string;
  count = 0;
  readonly #browser: Browser;
  readonly #words: readonly string[];

  private constructor(browser: Browser, directory: string, words: readonly string[]) {
    this.#browser = browser;
    this.directory = directory;
    this.#words = words;
  }

  /** Opens a camera for the pages whose names contain one of the words, or for all pages if there are no words. */
  static async open(directory: string, words: readonly string[]): Promise<Camera> {
    const executablePath = findChromium();
    if (executablePath === undefined) throw new Error("There is no Chromium. Run `node scripts/chromium.ts`.");
    mkdirSync(directory, { recursive: true });
    return new Camera(await chromium.launch({ executablePath, args }), directory, words);
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  /** A separate browser, in which no user is signed in. */
  async newContext({ colorScheme, width }: Omit<Look, "name">): Promise<BrowserContext> {
    const viewport = { width, height: 800 };
    const context = await this.#browser.newContext({ colorScheme, viewport, locale: "en-GB", reducedMotion: "reduce" });
    context.setDefaultTimeout(30_000);
    return context;
  }

  wants(name: string): boolean {
    return this.#words.length === 0 || this.#words.some((word) => name.includes(word));
  }

  /**
   * Takes a picture of the whole page, or with `window` only of the part that is visible without scrolling, for example when a dialog covers the
   * page.
   */
  async take(page: Page, name: string, part: "whole" | "window" = "whole"): Promise<void> {
    if (!this.wants(name)) return;
    // The bar at the top stays visible, so it would cover a part of the page in a picture of a scrolled page.
    if (part === "whole") await page.evaluate("scrollTo(0, 0)");
    await page.waitForFunction(isSettled);
    const path = join(this.directory, `${name}.png`);
    await page.screenshot({ path, fullPage: part === "whole", animations: "disabled" });
    this.count += 1;
  }
}

const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];

/** This is text, since it runs in the page. It is true when the fonts are loaded and no part of the page says that it is loading. */
const isSettled = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(
  () => document.fonts.status === "loaded" && document.querySelector(".skeleton, .starting") === null)`;
