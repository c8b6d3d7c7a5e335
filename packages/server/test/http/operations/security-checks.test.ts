import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { describe, expect, test } from "vitest";

const page = readFileSync(resolve(import.meta.dirname, "../../../../../docs/security.md"), "utf8");
const commands = [...page.matchAll(/^\| `(curl [^`]*\$URL[^`]*)`/gm)].map(([, command = ""]) => command);

/** Sends the request of the documented command to the service at `url`. */
async function ask(command: string, url: string): Promise<Response> {
  const headers = [...command.matchAll(/-H '([^:]+): ([^']*)'/g)].map(
    ([, name = "", value = ""]) => [name, value] as const,
  );
  const method = /-X (\w+)/.exec(command)?.[1] ?? (/ -sI /.test(command) ? "HEAD" : "GET");
  const path = /\$URL(\S*)/.exec(command)?.[1] ?? "";
  return await fetch(url + path, { method, headers: Object.fromEntries(headers), redirect: "manual" });
}

/** The checks of the table in docs/security.md, in its order. Each tells whether the answer is as documented. */
const isRight: readonly ((answer: Response) => Promise<boolean> | boolean)[] = [
  async (answer) => ((await answer.json()) as { issuer: string }).issuer.startsWith("https://"),
  ({ headers }) => headers.has("strict-transport-security"),
  ({ status, headers }) => status === 200 && /default-src 'none'/.test(headers.get("content-security-policy") ?? ""),
  ({ status }) => status === 401,
  ({ status, headers }) => status === 405 && !headers.has("access-control-allow-origin"),
];

test("the tests cover every command of the operator's checks", () => {
  expect(commands).toHaveLength(isRight.length);
});

onOneStore((home) => {
  describe("a service that is configured as the page says", () => {
    const service = useService(home, { STEPWELL_BASE_URL: "https://stepwell.example" });

    test.each(commands.map((command, index) => [command, index] as const))("passes %s", async (command, index) => {
      const answer = await ask(command, `http://localhost:${service.port}`);
      expect(await isRight[index]?.(answer)).toBe(true);
    });
  });

  describe("a service without https that allows a foreign origin", () => {
    const service = useService(home, { STEPWELL_CORS_ORIGINS: "https://evil.example" });

    test.each([
      ["the issuer", 0],
      ["https alone", 1],
      ["foreign origins", 4],
    ] as const)("fails the check of %s", async (_of, index) => {
      const answer = await ask(commands[index] ?? "", `http://localhost:${service.port}`);
      expect(await isRight[index]?.(answer)).toBe(false);
    });
  });
});
