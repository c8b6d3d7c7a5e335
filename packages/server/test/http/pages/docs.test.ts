import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

/** A row of the index in which the pages search. */
type Row = readonly [address: string, page: string, heading: string, text: string];

onOneStore((home) => {
  const plain = useService(home);
  const prefixed = useService(home, { STEPWELL_BASE_URL: "http://localhost:1/tools/flow" });

  const get = (path: string, headers: Record<string, string> = {}) => fetch(plain.baseUrl + path, { headers });
  const textOf = async (path: string) => await (await get(path)).text();

  test.each(["/docs", "/docs/definitions", "/docs/http-api", "/docs/api"])(
    "%s is a public page, whose policy allows nothing from other origins",
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(response.headers.get("cache-control")).toBe("no-cache");
      expect(response.headers.get("x-frame-options")).toBe("DENY");
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toMatch(/unsafe|http/);
      const text = await response.text();
      expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|<[^>]*\s(style|on\w+)="/);
      expect(text).not.toMatch(/<(script|link|img)[^>]*="(https?:)?\/\//);
    },
  );

  test("an unchanged page is not sent again, is compressed for clients that accept it, and has no body for HEAD", async () => {
    const packed = await get("/docs/definitions", { "accept-encoding": "gzip" });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(await packed.text()).toBe(await textOf("/docs/definitions"));
    const again = await get("/docs/definitions", { "if-none-match": packed.headers.get("etag") ?? "" });
    expect(again.status).toBe(304);
    const head = await fetch(`${plain.baseUrl}/docs/definitions`, { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
  });

  test.each([
    "/docs/nothing",
    "/docs/nothing.md",
    "/docs/decisions",
    "/docs/..%2fdashboard",
    "/docs/api.html",
    "/docs/%E0%A4%A",
  ])("%s is a page that says that there is no such page, and leads to the others", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await response.text()).toContain('<a href="/docs">');
  });

  test("a method that does not read is rejected, as for any path", async () => {
    const posted = await fetch(`${plain.baseUrl}/docs/definitions`, { method: "POST" });
    expect(posted.status).toBe(405);
    expect(posted.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  });

  test("the API document does not contain the documentation, which has no operations", async () => {
    const { raw: document } = await plain.client(undefined).document();
    expect(Object.keys(document.paths).filter((path) => /^\/(docs|llms)/.test(path))).toEqual([]);
  });

  test("each link of each page leads to an existing page, file or heading, also under a path prefix", async () => {
    for (const [service, prefix] of [
      [plain, ""],
      [prefixed, "/tools/flow"],
    ] as const) {
      const { port } = service.running;
      const pages = new Map<string, string>();
      const wrong: string[] = [];
      const read = async (path: string) => {
        if (pages.has(path)) return;
        const response = await fetch(`http://localhost:${port}${path}`);
        if (response.status !== 200) wrong.push(path);
        pages.set(path, await response.text());
      };
      const pending = [`${prefix}/docs`];
      const anchors: { page: string; path: string; anchor: string }[] = [];
      for (let page = pending.pop(); page !== undefined; page = pending.pop()) {
        if (pages.has(page)) continue;
        await read(page);
        for (const [path = "", anchor] of addressesOf(pages.get(page) ?? "").map((address) => address.split("#"))) {
          const target = path === "" ? page : path;
          if (!target.startsWith(`${prefix}/`)) wrong.push(`${page} → ${target}`);
          if (isPage(target, prefix)) pending.push(target);
          else await read(target);
          if (anchor !== undefined) anchors.push({ page, path: target, anchor });
        }
      }
      const missing = anchors.filter(({ path, anchor }) => !pages.get(path)?.includes(` id="${anchor}"`));
      expect([wrong, missing]).toEqual([[], []]);
      expect([...pages.keys()].filter((path) => isPage(path, prefix)).length).toBeGreaterThan(10);
    }
  });

  test("the reference has a section for each operation, with its path, its permission and its input", async () => {
    const { raw: document } = await plain.client(undefined).document();
    const page = await textOf("/docs/api");
    const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
      ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    );
    expect(operations.length).toBeGreaterThan(90);
    for (const { path, method, operationId, parameters = [], responses, ...rest } of operations) {
      const section = page.split(`<h3 id="${operationId}">`)[1]?.split("</section>")[0] ?? "";
      const words = textIn(section);
      expect(words).toContain(`${method.toUpperCase()} ${path}`);
      if (rest["x-permission"].includes(":")) expect(words).toContain(rest["x-permission"]);
      if (rest["x-cost"] !== undefined) expect(words).toContain(`Cost${rest["x-cost"]}`);
      for (const { name } of parameters) expect(section).toContain(`<code>${name}</code>`);
      for (const status of Object.keys(responses)) expect(section).toContain(`<strong>${status}</strong>`);
      if (method === "get") continue;
      for (const name of ["Idempotency-Key", "If-Match"]) {
        const isTaken = parameters.some((parameter) => parameter.name === name);
        expect(words).toContain(`${name}${isTaken ? "taken" : "not taken"}`);
      }
    }
    for (const name of Object.keys(document.components?.schemas ?? {})) expect(page).toContain(`id="schema-${name}"`);
  });

  test("every search result exists, and the name of the index changes with its content", async () => {
    const [, index = ""] = (await textOf("/docs")).match(/data-index="([^"]+)"/) ?? [];
    expect(index).toMatch(/^\/docs\/assets\/search-[\w-]{8}\.json$/);
    const response = await get(index);
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    const rows = (await response.json()) as readonly Row[];
    const pages = new Map<string, string>();
    for (const [address] of rows) {
      const [path = "", anchor] = address.split("#");
      if (!pages.has(path)) pages.set(path, await textOf(`/docs${path}`));
      if (anchor !== undefined) expect(pages.get(path)).toContain(` id="${anchor}"`);
    }
    expect(rows.find(([, , heading]) => heading === "SubmitJob")?.[0]).toBe("/api#SubmitJob");
    expect(rows.length).toBeGreaterThan(300);
  });

  test("llms.txt lists each page as Markdown, and every relative link of these pages works", async () => {
    const { port } = prefixed.running;
    const response = await fetch(`http://localhost:${port}/tools/flow/llms.txt`);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const text = await response.text();
    expect(text).toMatch(/^# Stepwell\n\n> .+\n\n## /);
    const addresses = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, address = ""]) => address);
    expect(addresses.length).toBeGreaterThan(10);
    for (const address of addresses) {
      expect(address).toMatch(/^http:\/\/localhost:1\/tools\/flow\//);
      const page = await fetch(address.replace("localhost:1/", `localhost:${port}/`));
      expect([address, page.status]).toEqual([address, 200]);
      if (!address.endsWith(".md")) continue;
      expect(page.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
      const links = [...(await page.text()).replace(/^```[\s\S]*?^```/gm, "").matchAll(/\]\(([^)#\s]+)[^)]*\)/g)];
      for (const [, link = ""] of links.filter(([, link = ""]) => !/^[a-z]+:/.test(link))) {
        const target = new URL(link, address.replace("localhost:1/", `localhost:${port}/`));
        expect([link, (await fetch(target)).status]).toEqual([link, 200]);
      }
    }
  });
});

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<string, object>>;
  readonly "x-permission": string;
  readonly "x-cost"?: number;
}

/** Returns the addresses to which a page links, and those that it loads. */
function addressesOf(page: string): string[] {
  const addresses = [...page.matchAll(/\s(?:href|src|data-index|data-docs)="([^"]*)"/g)].map(
    ([, address = ""]) => address,
  );
  return addresses.filter((address) => !/^[a-z]+:/.test(address));
}

/** Tells whether an address is an HTML page of the documentation. The test follows the links of such pages. */
function isPage(path: string, prefix: string): boolean {
  return new RegExp(`^${prefix}/docs(/[\\w-]+)?$`).test(path);
}

function textIn(html: string): string {
  return html.replace(/<[^>]*>/g, "");
}
