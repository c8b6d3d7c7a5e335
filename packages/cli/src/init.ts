import { initializeOwner, openStore, passwordLinkUrl, readConfig, requireOwnerRequest } from "@stepwell/server";
import { print } from "./terminal.ts";
import { clientUrl } from "./users.ts";

export async function init(options: { email: string; organization: string }): Promise<void> {
  const request = { email: options.email, displayName: options.email, organizationName: options.organization };
  requireOwnerRequest(request);
  const config = readConfig(process.env);
  const database = await openStore(config);
  try {
    const owner = await initializeOwner(database, request);
    if (owner === undefined) {
      throw new Error(
        "This store has an owner already, and nothing was changed. Start the service with `stepwell serve`. An owner lets others in with an invitation; an owner who lost the password gets another one by `stepwell user reset-link EMAIL`.",
      );
    }
    print(`organization ${owner.organizationId}`);
    print(`token        ${owner.token}`);
    if (owner.passwordLink !== undefined) {
      print(`password     ${passwordLinkUrl(clientUrl(config), owner.passwordLink.secret)}`);
      print();
      print(
        "Start the service with `stepwell serve` and choose a password at this address: it works once, for three days.",
      );
    }
    print("The token acts as its owner and is shown only now: keep it like a password.");
  } finally {
    await database.close();
  }
}
