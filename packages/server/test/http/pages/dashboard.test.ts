import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

onOneStore((home) => {
  const service = useService(home);

  const get = (path: string, headers: Record<string, string> = {}) => fetch(service.baseUrl + path, { headers });

  test.each([
    "/",
    "/signed-in",
    "/app",
    "/app/",
    "/app/organizations/x/jobs/y",
    "/app/..%2f..%2fetc/passwd",
    "/app/x/%E0%A4%A?y=%",
  ])("%s is the page of the dashboard, whose policy allows nothing from other origins", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(response.headers.get("x-frame-options")).toBe("DENY");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|http/);
    const text = await response.text();
    expect(text).toContain(`<meta name="stepwell-base-url" content="${service.baseUrl}"`);
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=/);
  });

  test("no page hides an answer of the API: unknown paths, other methods, and the API's own operations", async () => {
    expect((await get("/application")).status).toBe(404);
    expect((await get("/organizations")).status).toBe(401);
    expect((await get("/organizations/")).headers.get("content-type")).toContain("application/problem+json");
    const posted = await fetch(`${service.baseUrl}/app/organizations`, { method: "POST" });
    expect(posted.status).toBe(405);
    expect(posted.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  });

  test("the API document does not contain the page, which is no operation", async () => {
    const { raw: document } = await service.client(undefined).document();
    expect(Object.keys(document.paths).filter((path) => /^\/(app|assets|signed-in|$)/.test(path))).toEqual([]);
  });

  test("an asset can be cached for ever, and is compressed for clients that accept it", async () => {
    const page = await (await get("/")).text();
    const [script = ""] = page.match(/\/assets\/index-[\w-]+\.js/) ?? [];
    const answers = new Map<string, string>();
    for (const encoding of ["identity", "gzip", "br", "br;q=0, gzip", "*"]) {
      const response = await get(script, { "accept-encoding": encoding });
      expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
      answers.set(encoding, `${response.headers.get("content-encoding")} ${(await response.text()).length}`);
    }
    const length = answers.get("identity")?.split(" ")[1];
    expect(Object.fromEntries(answers)).toEqual({
      identity: `null ${length}`,
      gzip: `gzip ${length}`,
      br: `br ${length}`,
      "br;q=0, gzip": `gzip ${length}`,
      "*": `null ${length}`,
    });
    const head = await fetch(service.baseUrl + script, { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
  });

  test("an unchanged page is not sent again", async () => {
    const first = await get("/");
    await first.text();
    const again = await get("/app", { "if-none-match": first.headers.get("etag") ?? "" });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
  });

  test.each([
    "/assets/nothing.js",
    "/assets/",
    "/assets/..%2findex.html",
    "/assets/%2e%2e/%2e%2e/index.js",
    "/assets/index.js.br",
  ])("%s is not an asset", async (path) => {
    expect((await get(path)).status).toBe(404);
  });
});
