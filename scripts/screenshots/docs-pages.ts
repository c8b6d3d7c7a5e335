import type { BrowserContext } from "playwright-core";
import type { Camera } from "./camera.ts";

const pages = [
  { name: "docs", path: "/docs" },
  { name: "docs-page", path: "/docs/cli" },
  { name: "docs-api", path: "/docs/api" },
] as const;

/** Takes pictures of the public documentation: the index, one page of each kind, and the results of a search. */
export async function takeDocsPages(
  camera: Camera,
  context: BrowserContext,
  baseUrl: string,
  look: string,
): Promise<void> {
  const page = await context.newPage();
  for (const { name, path } of pages) {
    if (!camera.wants(name)) continue;
    await page.goto(baseUrl + path);
    await camera.take(page, `${name}.${look}`, "window");
  }
  if (camera.wants("docs-search")) {
    await page.goto(`${baseUrl}/docs`);
    await page.getByRole("searchbox").fill("cancel a job");
    await page.getByRole("status").filter({ hasText: "found" }).waitFor();
    await camera.take(page, `docs-search.${look}`, "window");
  }
  await page.close();
}
