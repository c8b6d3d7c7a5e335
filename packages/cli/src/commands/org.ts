import type { components } from "@stepwell/client";
import type { Command } from "commander";
import { connect, type Place, reach } from "../connection/connection.ts";
import { each, withLimit } from "../option.ts";
import { listed } from "../output/listed.ts";
import { list, table } from "../output/table.ts";
import { show } from "../output/terminal.ts";

export function declareOrg(program: Command): void {
  const org = program.command("org").description("organizations");
  withLimit(org.command("list").description("list the organizations that you are a member of")).action(listOrgs);
  org.command("show").description("show the organization that commands work in").action(showOrg);
  org
    .command("create")
    .argument("<name>")
    .option("--display-name <text>", "the name that pages show; by default NAME")
    .description("create an organization, and become its owner")
    .action(create);
  org
    .command("limits")
    .argument("<organizationId>")
    .option(
      "--requests-per-minute <number>",
      'how many requests all callers of the organization together may send in a minute; 0 means no limit, "default" means the configured value',
    )
    .option(
      "--submits-per-minute <number>",
      'how many jobs the organization may submit in a minute, child jobs included; 0 means no limit, "default" means the configured value',
    )
    .option(
      "--max <name=number>",
      'the maximum number of one thing, such as apiTokens=50; "apiTokens=default" applies the configured value',
      each,
    )
    .description("for the operator: show or set the limits of an organization, directly in the store")
    .action(async (id, options) =>
      (await import("../operation/organization-limits.ts")).organizationLimits(id, options),
    );
}

async function listOrgs({ limit, ...place }: Place & { readonly limit: number }): Promise<void> {
  const { client } = await reach(place);
  const organizations = await listed(limit, (pageSize) => client.list("ListOrganizations", { query: { pageSize } }));
  const rows = organizations.map(({ name, key, displayName, organizationId }) => [
    name,
    key,
    displayName,
    organizationId,
  ]);
  const none = "You are not a member of any organization yet. `stepwell org create NAME` makes one.";
  const text = rows.length === 0 ? none : table(["NAME", "KEY", "DISPLAY NAME", "ID"], rows);
  show({ value: organizations, text, quiet: organizations.map(({ organizationId }) => organizationId) });
}

async function showOrg(place: Place): Promise<void> {
  const { client, organizationId } = await connect(place);
  showOne(await client.call("GetOrganization", { path: { organizationId } }));
}

async function create(name: string, { displayName = name, ...place }: Place & { readonly displayName?: string }) {
  const { client } = await reach(place);
  showOne(await client.call("CreateOrganization", { body: { name, displayName } }));
}

function showOne(organization: components["schemas"]["Organization"]): void {
  const { organizationId, key, name, displayName, createdAt, requiresSecondFactor } = organization;
  const facts = list({
    id: organizationId,
    key,
    "display name": displayName,
    created: createdAt,
    "second factor": requiresSecondFactor ? "required" : "not required",
  });
  show({ value: organization, text: `Organization ${name}\n${facts}`, quiet: organizationId });
}
