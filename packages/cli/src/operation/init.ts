import { initializeOwner, openStore, passwordLinkUrl, readConfig, requireOwnerRequest } from "@stepwell/server";
import { show } from "../output/terminal.ts";
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
        "This store already has an owner, so nothing was changed. Start the service with `stepwell serve`. Owners can invite other users. For an owner who lost the password, make a link with `stepwell user reset-link EMAIL`.",
      );
    }
    const { organizationId, token, passwordLink } = owner;
    const link = passwordLink === undefined ? undefined : passwordLinkUrl(clientUrl(config), passwordLink.secret);
    const lines = [`organization ${organizationId}`, `token        ${token}`];
    if (link !== undefined) lines.push(`password     ${link}`, "", choosePassword);
    lines.push("The token acts as its owner and is shown only now: keep it like a password.");
    show({ value: { organizationId, token, passwordLink: link }, text: lines.join("\n"), quiet: token });
  } finally {
    await database.close();
  }
}

const choosePassword =
  "Start the service with `stepwell serve` and open the link above to choose a password. The link works once, within three days.";
