import { initializeOwner, openStore, readConfig } from "@stepwell/server";
import { print } from "./terminal.ts";

export async function init(options: { email: string; organization: string }): Promise<void> {
  const database = await openStore(readConfig(process.env));
  try {
    const owner = await initializeOwner(database, {
      email: options.email,
      displayName: options.email,
      organizationName: options.organization,
    });
    if (owner === undefined) {
      throw new Error("This store has an owner already. Ask that owner for an invitation or a token.");
    }
    print(`organization ${owner.organizationId}`);
    print(`token        ${owner.token}`);
    print("The token acts as its owner and is shown only now: keep it like a password.");
  } finally {
    await database.close();
  }
}
