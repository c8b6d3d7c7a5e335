import * as openid from "openid-client";
import { expect, test } from "vitest";
import { Browser } from "../support/browser.ts";
import { newPerson } from "../support/people.ts";
import { useService } from "../support/service.ts";
import { beginSignIn, discover, isArrival, signIn, typePassword } from "../support/sign-in.ts";
import { onEveryStore } from "../support/stores.ts";

onEveryStore((home) => {
  const service = useService(home);

  test("a standard client signs somebody in, and the id token is the Bearer value", async () => {
    const person = await newPerson(service);
    const { idToken, tokens } = await signIn(service.baseUrl, person);
    const claims = tokens.claims();
    expect(claims).toMatchObject({ sub: person.userId, iss: `${service.baseUrl}/oidc`, aud: "stepwell-dashboard" });
    expect((claims?.exp ?? 0) - (claims?.iat ?? 0)).toBe(3_600);
    const { body } = await service.client(idToken).call("GetAccount");
    expect(body).toMatchObject({ userId: person.userId, email: person.email });
    const list = await service.client(idToken).call<{ sessions: object[] }>("ListSessions");
    expect(list.body.sessions).toMatchObject([{ sessionId: claims?.sid, isCurrent: true, signedInBy: "password" }]);
  });
});
void openid;
void beginSignIn;
void discover;
void isArrival;
void typePassword;
void Browser;
