import { randomUUID } from "node:crypto";
import { ask } from "@stepwell/testing/audit-rows.ts";
import { useSingleSignOn } from "@stepwell/testing/identities/single-sign-on-world.ts";
import { commandLine, discover, type Tokens } from "@stepwell/testing/sign-in.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import * as openid from "openid-client";
import { expect, test } from "vitest";

/* People without a password confirm an action with a new sign-in at their issuer, in which the issuer must have asked them who they are. */
onOneStore((home) => {
  const world = useSingleSignOn(home);
  const body = { name: "t" };

  function clientOf(tokens: Tokens | undefined) {
    if (tokens === undefined) throw new Error("Nobody is signed in.");
    return world.service.client(tokens.id_token);
  }

  /** Makes the sign-in at the issuer older by this many seconds. */
  async function age(tokens: Tokens | undefined, seconds: number): Promise<void> {
    const text =
      "UPDATE user_session SET authenticated_at = authenticated_at - $2 * interval '1 second' WHERE user_id = $1";
    await ask(world.service.running.database, text, tokens?.claims()?.sub, seconds);
  }

  test("a user who signed in through an issuer can create a user token only after a sign-in in which the issuer asked again", async () => {
    const { login } = await world.newPersonAt("acme");
    const first = clientOf((await world.signIn("acme", login)).tokens);
    const { body: problem } = await first.refused("CreateUserToken", "ConflictError", { body });
    expect(problem.type).toBe("urn:stepwell:error:ConflictError:fresh-sign-in-needed");
    const again = clientOf((await world.signIn("acme", login, { prompt: "login" })).tokens);
    await again.call("CreateUserToken", { body });
    // The new sign-in does not change the earlier session.
    await first.refused("CreateUserToken", "ConflictError", { body });
  });

  test("a client that asks for a `max_age` makes the issuer ask again, too", async () => {
    const { login } = await world.newPersonAt("globex");
    const { tokens } = await world.signIn("globex", login, { max_age: "600" });
    await clientOf(tokens).call("CreateUserToken", { body });
  });

  test("a sign-in in which the issuer asked again counts for ten minutes", async () => {
    const { login } = await world.newPersonAt("acme");
    const { tokens } = await world.signIn("acme", login, { prompt: "login" });
    await age(tokens, 9 * 60);
    await clientOf(tokens).call("CreateUserToken", { body });
    await age(tokens, 61);
    await expect
      .poll(async () => (await clientOf(tokens).callAny("CreateUserToken", { body })).status, { timeout: 5_000 })
      .toBe(409);
  });

  test("a device that was signed in from a browser is no fresh sign-in, since its code can be phished", async () => {
    const { login } = await world.newPersonAt("acme");
    const { browser, tokens } = await world.signIn("acme", login, { prompt: "login" });
    const configuration = await discover(world.service.baseUrl, commandLine);
    const code = await openid.initiateDeviceAuthorization(configuration, { scope: "openid" });
    const entry = await browser.open(code.verification_uri_complete ?? "");
    const confirmation = await browser.submit(entry, { user_code: code.user_code });
    await browser.submit(confirmation, { confirm: "yes" });
    const device = (await openid.pollDeviceAuthorizationGrant(configuration, code)) as Tokens;
    expect(device.claims()?.sub).toBe(tokens?.claims()?.sub);
    await clientOf(device).refused("CreateUserToken", "ConflictError", { body });
    await clientOf(tokens).call("CreateUserToken", { body });
  });

  test("a repeated request also needs a fresh sign-in", async () => {
    const { login } = await world.newPersonAt("acme");
    const { tokens } = await world.signIn("acme", login, { prompt: "login" });
    const once = { body, headers: { "amz-sdk-invocation-id": randomUUID() } };
    await clientOf(tokens).call("CreateUserToken", once);
    await clientOf(tokens).call("CreateUserToken", once);
    await age(tokens, 11 * 60);
    const statusOfThird = async () => (await clientOf(tokens).callAny("CreateUserToken", once)).status;
    await expect.poll(statusOfThird, { timeout: 5_000 }).toBe(409);
  });

  test("a user token is no fresh sign-in, and creates no other token", async () => {
    const { login } = await world.newPersonAt("acme");
    const { tokens } = await world.signIn("acme", login, { prompt: "login" });
    const { token } = (await clientOf(tokens).call<{ token: string }>("CreateUserToken", { body })).body;
    await world.service.client(token).refused("CreateUserToken", "ConflictError", { body });
  });
});
