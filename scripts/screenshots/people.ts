import { Browser } from "@stepwell/testing/browser.ts";
import { createRecoveryCodes, createSecondFactor } from "../../packages/server/src/auth/passwords/second-factor.ts";
import type { Config } from "../../packages/server/src/config.ts";
import { SecretBox } from "../../packages/server/src/sealing/secret-box.ts";
import { secretKeyOf } from "../../packages/server/src/sealing/secret-key.ts";
import type { RunningService } from "../../packages/server/src/service.ts";
import { replaceRecoveryCodes } from "../../packages/server/src/store/people/recovery-codes.ts";
import { enableTotp, startTotp } from "../../packages/server/src/store/people/user-credentials.ts";
import { findUserByEmail } from "../../packages/server/src/store/people/users.ts";
import type { Api } from "./api.ts";

/** The password of everybody in the pictures. */
export const password = "seven green bicycles";

/** Makes a person a member: the owner makes an invitation, and the form of its page is sent as the person's browser would send it. */
export async function join(baseUrl: string, organization: string, owner: Api, { email, displayName, role }: Newcomer) {
  const { link = "" } = await owner.post(`${organization}/invitations`, { roles: [role], email });
  const path = new URL(link).pathname;
  const form = { account: "new", displayName, newPassword: password };
  const response = await fetch(baseUrl + path, { method: "POST", body: new URLSearchParams(form) });
  if (!response.ok) throw new Error(`${email} could not join: ${response.status}`);
}

export interface Newcomer {
  readonly email: string;
  readonly displayName: string;
  readonly role: string;
}

/** Signs in from a new device. `typed` may be a wrong password. */
export async function signInFrom(baseUrl: string, userAgent: string, email: string, typed = password): Promise<void> {
  const browser = new Browser(userAgent);
  const isArrival = (url: URL) => url.pathname === "/signed-in";
  const page = await browser.open(signInAddress(baseUrl), isArrival);
  await browser.submit(page, { email, password: typed }, isArrival);
}

/** The address to which the dashboard sends people who are not signed in. */
export function signInAddress(baseUrl: string, clientId = "stepwell-dashboard"): string {
  const query = new URLSearchParams({
    client_id: clientId,
    response_type: "code",
    redirect_uri: `${baseUrl}/signed-in`,
    scope: "openid profile email offline_access",
    code_challenge: "x".repeat(43),
    code_challenge_method: "S256",
    state: "pictures",
    nonce: "pictures",
  });
  return `${baseUrl}/oidc/auth?${query}`;
}

/** Activates a second factor, and returns the recovery codes. */
export async function giveSecondFactor(
  { database, engine }: RunningService,
  config: Config,
  email: string,
): Promise<readonly string[]> {
  const user = await findUserByEmail(database, email);
  if (user === undefined) throw new Error(`Nobody has the address ${email}.`);
  const { sealedSecret } = createSecondFactor(new SecretBox(secretKeyOf(config)), user);
  const { codes, codeHashes } = createRecoveryCodes();
  await startTotp(database, user.userId, sealedSecret);
  await enableTotp(database, user.userId, sealedSecret, 0, engine.now());
  await database.transaction((transaction) => replaceRecoveryCodes(transaction, user.userId, codeHashes));
  return codes;
}
