import { storeToken } from "@stepwell/testing/identities/stored-token.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

onOneStore((home) => {
  const service = useService(home);

  test("a user is told their account, their token, and its expiry", async () => {
    const expiresAt = service.running.engine.now() + 3_600_000;
    const { userId, client, token } = await service.newUser(expiresAt);
    expect((await client.call("WhoAmI")).body).toEqual({
      type: "user",
      id: userId,
      name: "A user",
      email: `${userId}@example.org`,
      tokenPrefix: token.slice(0, 31),
      expiresAt: new Date(expiresAt).toISOString(),
    });
  });

  test("an API token is told its organization and all of its permissions", async () => {
    const { api, organizationId } = await service.newOrganization();
    const body = { name: "deploy", permissions: ["job:submit", "job:list"], expiresAt: null };
    const { body: created } = await api.call<{ token: string; tokenId: string; tokenPrefix: string }>(
      "CreateApiToken",
      { body },
    );
    expect((await api.as(created.token).call("WhoAmI")).body).toEqual({
      type: "apiToken",
      id: created.tokenId,
      name: "deploy",
      organizationId,
      permissions: ["workflow:read", "job:submit", "job:read", "job:list"],
      tokenPrefix: created.tokenPrefix,
    });
  });

  test("a narrow token is told its bounds", async () => {
    const { api, organizationId } = await service.newOrganization();
    const jobId = service.running.engine.newId();
    const values = { permissions: ["job:event:send"], boundJobId: jobId, boundEventId: "approved" };
    const { token } = await storeToken(service, organizationId, values);
    const { body } = await api.as(token).call("WhoAmI");
    expect(body).toMatchObject({ boundTo: { jobEvent: { jobId, eventId: "approved" } } });
  });

  test("a secret that was rotated away is told its own expiry and its own prefix", async () => {
    const { api } = await service.newOrganization();
    const body = { name: "t", permissions: ["job:list"], expiresAt: null };
    const { body: first } = await api.call<{ token: string; tokenId: string; tokenPrefix: string }>("CreateApiToken", {
      body,
    });
    const { body: rotated } = await api.call<Record<string, string>>("RotateApiToken", {
      params: { tokenId: first.tokenId },
    });
    const { body: byOld } = await api.as(first.token).call("WhoAmI");
    expect(byOld).toMatchObject({ tokenPrefix: first.tokenPrefix, expiresAt: rotated.previousExpiresAt });
    const { body: byNew } = await api.as(rotated.token).call("WhoAmI");
    expect(byNew).toMatchObject({ tokenPrefix: rotated.tokenPrefix });
    expect(byNew).not.toHaveProperty("expiresAt");
  });

  test("a request without a credential is told nothing", async () => {
    await service.client(undefined).refused("WhoAmI", "AuthenticationError");
  });
});
