import { ask } from "@stepwell/testing/audit-rows.ts";
import type { Tokens } from "@stepwell/testing/sign-in.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { useSingleSignOn } from "./single-sign-on-world.ts";

/* People without a password here confirm an act by a sign-in at their issuer in which it asked them who they are. */
onOneStore((home) => {
  const world = useSingleSignOn(home);
  const body = { name: "t" };

  function clientOf(tokens: Tokens | undefined) {
    if (tokens === undefined) throw new Error("Nobody is signed in.");
    return world.service.client(tokens.id_token);
  }

  test("whoever signed in by an issuer makes a user token only after a sign-in in which it asked them again", async () => {
    const { login } = await world.newPersonAt("acme");
    const first = clientOf((await world.signIn("acme", login)).tokens);
    const { body: problem } = await first.refused("CreateUserToken", "ConflictError", { body });
    expect(problem.type).toBe("urn:stepwell:error:ConflictError:fresh-sign-in-needed");
    const again = clientOf((await world.signIn("acme", login, { prompt: "login" })).tokens);
    await again.call("CreateUserToken", { body });
    // The session of before stays what it was.
    await first.refused("CreateUserToken", "ConflictError", { body });
  });

  test("a client that asks for a `max_age` has the issuer ask again, too", async () => {
    const { login } = await world.newPersonAt("globex");
    const { tokens } = await world.signIn("globex", login, { max_age: "600" });
    await clientOf(tokens).call("CreateUserToken", { body });
  });

  test("such a sign-in counts for ten minutes", async () => {
    const { login } = await world.newPersonAt("acme");
    const { tokens } = await world.signIn("acme", login, { prompt: "login" });
    const text =
      "UPDATE user_session SET authenticated_at = authenticated_at - $2 * interval '1 second' WHERE user_id = $1";
    const age = (seconds: number) => ask(world.service.running.database, text, tokens?.claims()?.sub, seconds);
    await age(9 * 60);
    await clientOf(tokens).call("CreateUserToken", { body });
    await age(61);
    await expect
      .poll(async () => (await clientOf(tokens).callAny("CreateUserToken", { body })).status, { timeout: 5_000 })
      .toBe(409);
  });

  test("a user token is no fresh sign-in: it makes no other", async () => {
    const { login } = await world.newPersonAt("acme");
    const { tokens } = await world.signIn("acme", login, { prompt: "login" });
    const { token } = (await clientOf(tokens).call<{ token: string }>("CreateUserToken", { body })).body;
    await world.service.client(token).refused("CreateUserToken", "ConflictError", { body });
  });
});
