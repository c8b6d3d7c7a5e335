import { codeOf, rightPassword } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Locator, Page } from "playwright-core";
import decodeQR from "qr/decode.js";
import { expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { testBrowser } from "./support/browser.ts";
import { newOwner, type Owner, signInAt } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
  const service = useService(home);

  async function beginSetUp(page: Page, owner: Owner): Promise<Locator> {
    await signInAt(page, owner.url, owner);
    await page.getByRole("button", { name: /^Account of/ }).press("Enter");
    await page.getByRole("menuitem", { name: "Your account" }).press("Enter");
    await page.getByRole("link", { name: "Second factor" }).press("Enter");
    await page.getByLabel("Your password").fill(rightPassword);
    await page.getByLabel("Your password").press("Enter");
    const code = page.getByRole("img", { name: "QR code of the secret for an authenticator app" });
    await code.waitFor();
    return code;
  }

  test("the second factor is set up with a scanned code, and the secret is also shown for typing", async () => {
    const owner = await newOwner(service);
    const page = await browser.newPage();
    const scanned = new URL(await scan(page, await beginSetUp(page, owner)));
    expect(scanned.protocol).toBe("otpauth:");
    expect(decodeURIComponent(scanned.pathname)).toContain(owner.email);
    const secret = scanned.searchParams.get("secret") ?? "";
    await page.getByText(secret, { exact: true }).waitFor();

    await page.getByLabel("Code of the app").fill(codeOf(secret, service.running.engine.now()));
    await page.getByLabel("Code of the app").press("Enter");
    await page.getByText("Your recovery codes").first().waitFor();
    const { body } = await owner.client.call("GetAccount");
    expect(body).toMatchObject({ secondFactorEnabledAt: expect.any(String), recoveryCodesLeft: 10 });
  });

  inWholeMatrix(() => {
    test.each(["light", "dark"] as const)(
      "the code can be scanned in %s on a telephone, and the page follows the accessibility rules",
      async (colorScheme) => {
        const owner = await newOwner(service);
        const page = await browser.newPage({ colorScheme, width: 360 });
        expect(await scan(page, await beginSetUp(page, owner))).toMatch(/^otpauth:\/\/totp\//);
        await expectAccessible(page, `the second factor's code in ${colorScheme}`);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
      },
    );
  });
});

/** Reads the code off the screen, as a camera would. */
async function scan(page: Page, code: Locator): Promise<string> {
  const png = (await code.screenshot()).toString("base64");
  const { width, height, data } = (await page.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob("${png}"), (character) => character.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const { width, height } = image;
    const context = new OffscreenCanvas(width, height).getContext("2d");
    context.drawImage(image, 0, 0);
    return { width, height, data: Array.from(context.getImageData(0, 0, width, height).data) };
  })()`)) as { readonly width: number; readonly height: number; readonly data: readonly number[] };
  return decodeQR({ width, height, data: Uint8ClampedArray.from(data) });
}
