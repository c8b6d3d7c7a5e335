import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { ClientOrigins } from "../../../src/auth/oidc/client-origins.ts";

onOneStore((home) => {
  const service = useService(home);

  test("a network that asks for too many unknown origins gets no more look-ups in that minute, and other networks still do", async () => {
    const { api, organizationId } = await service.newOrganization();
    const [known, unseen] = ["known", "unseen"].map((name) => `https://${name}.${organizationId}.example`);
    for (const origin of [known, unseen]) {
      await api.call("CreateOAuthClient", { body: { name: "c", redirectUris: [`${origin}/`] } });
    }
    let now = 0;
    const origins = new ClientOrigins({ database: service.running.database, now: () => now, maxUnknownPerMinute: 3 });
    expect(await origins.has(known ?? "", "192.0.2.1")).toBe(true);
    for (const number of [1, 2, 3]) {
      expect(await origins.has(`https://${number}.${organizationId}.example`, "192.0.2.1")).toBe(false);
    }
    expect(await origins.has(unseen ?? "", "192.0.2.1")).toBe(false);
    expect(await origins.has(known ?? "", "192.0.2.1")).toBe(true);
    expect(await origins.has(unseen ?? "", "192.0.2.2")).toBe(true);
    now = 60_000;
    origins.forgetAll();
    expect(await origins.has(unseen ?? "", "192.0.2.1")).toBe(true);
  });
});
