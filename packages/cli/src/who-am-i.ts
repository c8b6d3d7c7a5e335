import type { operations } from "@stepwell/client";
import { reach } from "./connection.ts";
import { print, printJson } from "./terminal.ts";

type Caller = operations["WhoAmI"]["responses"][200]["content"]["application/json"];

export async function whoAmI({ json }: { readonly json?: boolean }): Promise<void> {
  const { client, baseUrl, from, organizationId } = await reach();
  const caller = await client.whoAmI();
  if (json === true) return printJson(caller);
  print(nameOf(caller));
  print(`  service       ${baseUrl}`);
  print(`  shown there   ${sources[from]}`);
  print(`  organization  ${caller.organizationId ?? organizationId ?? "none is chosen"}`);
  if (caller.permissions !== undefined) print(`  permissions   ${caller.permissions.join(", ")}`);
  if (caller.boundTo !== undefined) print(`  bound to      ${JSON.stringify(caller.boundTo)}`);
  if (caller.expiresAt !== undefined) print(`  holds until   ${caller.expiresAt}`);
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
