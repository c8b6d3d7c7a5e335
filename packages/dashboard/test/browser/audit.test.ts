import { readFile } from "node:fs/promises";
import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, signInAt } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
  const service = useService(home);

  /** Exports the trail with the keyboard. Returns the file's name and its lines. */
  async function exported(page: Page): Promise<{ name: string; lines: string[] }> {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export as CSV" }).press("Enter"),
    ]);
    const text = await readFile(await file.path(), "utf8");
    return { name: file.suggestedFilename(), lines: text.trimEnd().split("\r\n") };
  }

  test("the audit trail shows the name of each target, also of a deleted one, and exports the filtered entries as CSV", async () => {
    const owner = await newOwner(service);
    const { api, organizationId } = owner;
    const permissions = ["workflow:read"];
    await deploy(api, straightDefinition, "orders");
    const { body } = await api.call<{ tokenId: string }>("CreateApiToken", { body: { name: "former", permissions } });
    await api.call("RevokeApiToken", { params: { tokenId: body.tokenId } });
    await api.call("CreateApiToken", { body: { name: "pipeline", permissions } });
    for (const name of ["first", "second"]) await api.call("CreateRole", { body: { name, permissions } });
    const page = await browser.newPage();
    await signInAt(page, `${owner.url}/settings/audit?action=CreateRole`, owner);
    await page.getByRole("cell", { name: "CreateRole" }).first().waitFor();
    const roles = await exported(page);
    expect(roles.name).toBe(`audit-${organizationId}.csv`);
    expect(roles.lines[0]).toMatch(/^entryId,recordedAt,/);
    expect(roles.lines.slice(1)).toEqual([
      expect.stringMatching(/,CreateRole,accepted,role,first,/),
      expect.stringMatching(/,CreateRole,accepted,role,second,/),
    ]);

    await page.getByRole("button", { name: "Clear filters" }).press("Enter");
    for (const target of ["Workflow orders", "Version 1 of orders", "Tag $LIVE of orders", "API token former"]) {
      await page.getByRole("cell", { name: target, exact: true }).first().waitFor();
    }
    const all = await exported(page);
    expect(all.lines.slice(-3)).toEqual([
      expect.stringContaining(",CreateApiToken,"),
      ...roles.lines.slice(1).map((line) => expect.stringContaining(line.slice(0, 36))),
    ]);
    await expectAccessible(page, "the audit trail after an export");
  });

  test("an address of the audit trail with a mistake still shows the list, and its valid filters apply", async () => {
    const owner = await newOwner(service);
    const permissions = ["workflow:read"];
    await owner.api.call("CreateRole", { body: { name: "first", permissions } });
    await owner.api.call("CreateApiToken", { body: { name: "pipeline", permissions } });
    const page = await browser.newPage();
    await signInAt(page, `${owner.url}/settings/audit?action=CreateRole&outcome=maybe&source=mail`, owner);
    await page.getByRole("cell", { name: "CreateRole" }).first().waitFor();
    expect((await exported(page)).lines).toHaveLength(2);
  });
});
