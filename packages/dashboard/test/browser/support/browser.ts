import { findChromium } from "@stepwell/testing/find-chromium.ts";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterEach, beforeAll, expect } from "vitest";

export interface BrowserOptions {
  readonly colorScheme?: "light" | "dark";
  readonly width?: number;
}

/** The pages of one test file. Each page of `newPage` has cookies and storage of its own. */
export class TestBrowser {
  #contexts: BrowserContext[] = [];
  #faults: string[] = [];
  #expected: RegExp[] = [];

  /** Opens a page. The test fails if the page logs an error, violates its content security policy, throws an exception or calls a third party. */
  async newPage({ colorScheme = "light", width = 1_280 }: BrowserOptions = {}): Promise<Page> {
    const viewport = { width, height: 800 };
    const context = await (await sharedChromium()).newContext({ colorScheme, viewport, locale: "en-GB" });
    this.#contexts.push(context);
    await context.addInitScript(reportPolicyViolations);
    return this.#watch(await context.newPage());
  }

  /** Opens a page that shares the cookies and the storage of the page `beside`. */
  async newTab(beside: Page): Promise<Page> {
    return this.#watch(await beside.context().newPage());
  }

  #watch(page: Page): Page {
    page.setDefaultTimeout(15_000);
    page.on("console", (message) => {
      const where = message.location().url;
      if (message.type() === "error") this.#faults.push(`console: ${message.text()} ${where}`);
    });
    page.on("pageerror", (error) => this.#faults.push(`page: ${error.stack ?? error.message}`));
    page.on("request", (request) => {
      const { protocol, hostname } = new URL(request.url());
      const isOwn = ["localhost", "127.0.0.1"].includes(hostname) || protocol === "data:" || protocol === "blob:";
      if (!isOwn) this.#faults.push(`asked a third party: ${request.url()}`);
    });
    return page;
  }

  /** Allows an error that matches the pattern, for a test in which the service must reject something. */
  expectFault(pattern: RegExp): void {
    this.#expected.push(pattern);
  }

  /** Closes the pages before their service stops. */
  async closePages(): Promise<void> {
    for (const context of this.#contexts) await context.close();
    this.#contexts = [];
  }

  async endTest(): Promise<void> {
    await this.closePages();
    const unexpected = this.#faults.filter((fault) => !this.#expected.some((pattern) => pattern.test(fault)));
    this.#faults = [];
    this.#expected = [];
    expect(unexpected).toEqual([]);
  }
}

export function testBrowser(): TestBrowser {
  const browser = new TestBrowser();
  beforeAll(() => sharedChromium());
  afterEach(() => browser.endTest());
  return browser;
}

let chromiumOfWorker: Promise<Browser> | undefined;

/** The test files of one worker of Vitest share one Chromium (`isolate: false` in vitest.config.ts), because starting it takes a second. */
function sharedChromium(): Promise<Browser> {
  chromiumOfWorker ??= launch();
  return chromiumOfWorker;
}

async function launch(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("There is no Chromium. Run `node scripts/chromium.ts`.");
  return await chromium.launch({ executablePath, args });
}

const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** This is text, since it runs in the page. */
const reportPolicyViolations = `document.addEventListener("securitypolicyviolation", (event) => {
  console.error("policy violated: " + event.violatedDirective + " " + event.blockedURI + " " + event.sourceFile);
});`;
