import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { permissions } from "../../src/auth/permissions/permissions.ts";

test("docs/api.md names every permission, and none that does not exist", () => {
  const docs = readFileSync(new URL("../../../../docs/api.md", import.meta.url), "utf8");
  const [, section = ""] = /^## Permissions\n([\s\S]*?)^## /m.exec(docs) ?? [];
  const named = [...section.matchAll(/`([a-z-]+(?::[a-z]+)+)`/g)].map(([, name]) => name);
  expect([...new Set(named)].sort()).toEqual([...permissions].sort());
});
