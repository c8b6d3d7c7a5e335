import type { operations } from "@stepwell/client";
import { type Place, reach } from "../connection/connection.ts";
import { list } from "../output/table.ts";
import { show } from "../output/terminal.ts";

type Caller = operations["WhoAmI"]["responses"][200]["content"]["application/json"];

export async function whoAmI(place: Place): Promise<void> {
  const { client, baseUrl, from, organization } = await reach(place);
  const caller = await client.whoAmI();
  const { boundTo } = caller;
  const facts = list({
    service: baseUrl,
    credential: sources[from],
    organization: caller.organizationId ?? organization ?? "none is chosen",
    permissions: caller.permissions?.join(", "),
    "bound to": boundTo === undefined ? undefined : JSON.stringify(boundTo),
    expires: caller.expiresAt,
  });
  show({ value: caller, text: `${nameOf(caller)}\n${facts}`, quiet: caller.id });
}

function nameOf({ type, name, email, id }: Caller): string {
  if (type === "apiToken") return `the API token ${name} (${id})`;
  return email === undefined ? name : `${name} (${email})`;
}

const sources = {
  STEPWELL_TOKEN: "the token in STEPWELL_TOKEN",
  "stepwell login": "the sign-in by `stepwell login`",
  "stepwell dev": "the token that `stepwell dev` made",
};
