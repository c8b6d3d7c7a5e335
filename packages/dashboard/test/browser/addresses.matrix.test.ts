import { findFreePort } from "@stepwell/testing/free-port.ts";
import { TestService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { issueSignInLink, signInLinkUrl } from "../../../server/src/auth/passwords/sign-in-link.ts";
import { testBrowser } from "./support/browser.ts";
import { newOwner, signInAt } from "./support/people.ts";

const browser = testBrowser();

onOneStore((home) => {
  test("the dashboard works under a path prefix, and redirects a browser from another address of the service to the right one", async () => {
    const port = await findFreePort();
    const baseUrl = `http://localhost:${port}/tools/flow`;
    const service = new TestService(home, { STEPWELL_PORT: String(port), STEPWELL_BASE_URL: baseUrl });
    await service.start();
    try {
      const owner = await newOwner(service);
      expect(owner.url.startsWith(baseUrl)).toBe(true);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows`.replace("localhost", "127.0.0.1"), owner);
      await page.getByRole("heading", { level: 1, name: "Workflows" }).waitFor();
      expect(page.url()).toBe(`${owner.url}/workflows`);
      await page.getByRole("link", { name: "Home" }).click();
      await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
      expect(page.url()).toBe(owner.url);

      const secret = await issueSignInLink(service.running.database, owner.userId, service.running.engine.now());
      const another = await browser.newPage();
      await another.goto(signInLinkUrl(baseUrl, secret));
      await another.getByRole("heading", { level: 1, name: "Home" }).waitFor();
      expect(another.url()).toBe(owner.url);
    } finally {
      await browser.closePages();
      await service.stop();
    }
  });
});
