import type { BrowserContext, Page } from "playwright-core";
import { Camera, type Look, looks } from "./camera.ts";
import {
  accountPages,
  type DashboardPage,
  guardedAccountPages,
  organizationPages,
  settingsPages,
  unsavedPages,
} from "./dashboard-pages.ts";
import { takeDocsPages } from "./docs-pages.ts";
import { password } from "./people.ts";
import { takeSignInPages } from "./sign-in-pages.ts";
import { operatorEmail, ownerEmail, type Story } from "./story.ts";

export interface PictureParts {
  readonly baseUrl: string;
  readonly story: Story;
  /** The recovery codes of the operator. Each of them works once. */
  readonly recoveryCodes: readonly string[];
  /** Only pages whose names contain one of these words get pictures. Without words, all pages get pictures. */
  readonly words: readonly string[];
}

interface Written {
  readonly count: number;
  readonly directory: string;
}

/** Takes a picture of every wanted page in every look. */
export async function takeAll(parts: PictureParts): Promise<Written> {
  const camera = await Camera.open("screenshots", parts.words);
  const recoveryCodes = [...parts.recoveryCodes];
  try {
    for (const look of looks) await takeLook(camera, parts, look, () => recoveryCodes.pop() ?? "");
    return camera;
  } finally {
    await camera.close();
  }
}

async function takeLook(camera: Camera, parts: PictureParts, look: Look, nextCode: () => string): Promise<void> {
  const { baseUrl, story } = parts;
  await inContext(camera, look, async (context) => {
    const page = await signIn(context, baseUrl, ownerEmail);
    for (const each of [
      ...organizationPages(story),
      ...settingsPages(story),
      ...accountPages,
      ...unsavedPages(story),
    ]) {
      await takePage(camera, page, baseUrl, each, look);
    }
  });
  await inContext(camera, look, async (context) => {
    await takeSignInPages(camera, context, parts, look.name, nextCode());
    await takeDocsPages(camera, context, baseUrl, look.name);
  });
  await inContext(camera, look, async (context) => {
    const page = await signIn(context, baseUrl, operatorEmail, nextCode());
    for (const each of guardedAccountPages) await takePage(camera, page, baseUrl, each, look);
  });
}

/** The height of each picture is that of its content. */
const readmePictures = [
  { name: "job", shown: "job-waiting", height: 920 },
  { name: "home", shown: "home", height: 812 },
] as const;

export async function takeForReadme({ baseUrl, story }: PictureParts): Promise<Written> {
  const camera = await Camera.open("docs/images", []);
  try {
    const context = await camera.newContext({ colorScheme: "light", width: 1_280 });
    const page = await signIn(context, baseUrl, ownerEmail);
    const pages = organizationPages(story);
    for (const { name, shown, height } of readmePictures) {
      const found = pages.find((each) => each.name === shown);
      if (found === undefined) throw new Error(`No page is called ${shown}.`);
      await page.setViewportSize({ width: 1_280, height });
      await open(page, baseUrl, found);
      await camera.take(page, name, "window");
    }
    return camera;
  } finally {
    await camera.close();
  }
}

async function inContext(camera: Camera, look: Look, work: (context: BrowserContext) => Promise<void>): Promise<void> {
  const context = await camera.newContext(look);
  await work(context);
  await context.close();
}

async function takePage(camera: Camera, page: Page, baseUrl: string, shown: DashboardPage, look: Look): Promise<void> {
  if (!camera.wants(shown.name)) return;
  try {
    await open(page, baseUrl, shown);
  } catch (cause) {
    throw new Error(`The page ${shown.name} did not load completely (${look.name}).`, { cause });
  }
  await camera.take(page, `${shown.name}.${look.name}`, shown.isWindow === true ? "window" : "whole");
}

async function open(page: Page, baseUrl: string, { path, isReady }: DashboardPage): Promise<void> {
  // A dialog stays open if the next page has the same address, so Escape closes it first. If values were typed, only the second Escape closes it.
  for (const _ of [1, 2]) await page.keyboard.press("Escape");
  await page.mouse.move(0, 0);
  await page.evaluate("scrollTo(0, 0)");
  await page.evaluate(goTo(`${baseUrl}/app${path}`));
  await isReady(page);
}

/** This is text, since it runs in the page. It changes the address as a link does, so that no new sign-in is needed. */
function goTo(url: string): string {
  return `history.pushState(null, "", ${JSON.stringify(url)}); dispatchEvent(new PopStateEvent("popstate"))`;
}

async function signIn(context: BrowserContext, baseUrl: string, email: string, code?: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${baseUrl}/`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  if (code !== undefined) {
    await page.getByLabel("Code").fill(code);
    await page.getByRole("button", { name: "Continue" }).click();
  }
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  return page;
}
