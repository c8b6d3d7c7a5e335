import type { components, operations } from "@stepwell/client";
import type { Command } from "commander";
import { connect, type Place } from "../connection/connection.ts";
import { each, withLimit } from "../option.ts";
import { listed } from "../output/listed.ts";
import { list, table } from "../output/table.ts";
import { show } from "../output/terminal.ts";

type Role = components["schemas"]["Role"];
type NewRole = operations["CreateRole"]["requestBody"]["content"]["application/json"];

export function declareRole(program: Command): void {
  const role = program.command("role").description("roles: which permissions members have");
  withLimit(role.command("list").description("list the roles")).action(listRoles);
  role
    .command("show")
    .argument("<role>", "name or id")
    .description("show a role with its permissions")
    .action(showRole);
  role
    .command("create")
    .argument("<name>")
    .requiredOption("--permission <permission>", "such as job:read; separate several with commas", each)
    .option("--description <text>", "what the role is for")
    .description("make a role")
    .action(create);
  role
    .command("update")
    .argument("<role>", "name or id")
    .option("--name <name>", "another name")
    .option(
      "--permission <permission>",
      "the permissions that replace the role's present ones; separate several with commas",
      each,
    )
    .option("--description <text>", "what the role is for")
    .description("change a role; the change takes effect within a second")
    .action(update);
  role
    .command("delete")
    .argument("<role>", "name or id")
    .description("delete a role that no member has and no open invitation gives")
    .action(remove);
}

async function listRoles({ limit, ...place }: Place & { readonly limit: number }): Promise<void> {
  const { client, organizationId } = await connect(place);
  const path = { organizationId };
  const roles = await listed(limit, (pageSize) => client.list("ListRoles", { path, query: { pageSize } }));
  const rows = roles.map(({ name, isBuiltIn, permissions, description }) => [
    name,
    isBuiltIn ? "built in" : "own",
    String(permissions.length),
    description,
  ]);
  show({
    value: roles,
    text: table(["ROLE", "KIND", "PERMISSIONS", "DESCRIPTION"], rows),
    quiet: roles.map(({ name }) => name),
  });
}

async function showRole(role: string, place: Place): Promise<void> {
  const { client, organizationId } = await connect(place);
  showOne(await client.call("GetRole", { path: { organizationId, role } }));
}

function showOne(role: Role): void {
  const { name, roleId, description, permissions } = role;
  const facts = list({ id: roleId, description: description || undefined, permissions: permissions.join(", ") });
  show({ value: role, text: `Role ${name}\n${facts}`, quiet: name });
}

interface ChangeOptions extends Place {
  readonly name?: string;
  readonly permission?: readonly string[];
  readonly description?: string;
}

function changeIn({ permission, description }: ChangeOptions) {
  return {
    ...(permission !== undefined && { permissions: permission as NonNullable<NewRole["permissions"]> }),
    ...(description !== undefined && { description }),
  };
}

async function create(name: string, options: ChangeOptions): Promise<void> {
  const { client, organizationId } = await connect(options);
  const body = { name, ...changeIn(options) };
  showOne(await client.call("CreateRole", { path: { organizationId }, body }));
}

async function update(role: string, options: ChangeOptions): Promise<void> {
  const { client, organizationId } = await connect(options);
  const body = { ...(options.name !== undefined && { name: options.name }), ...changeIn(options) };
  showOne(await client.call("UpdateRole", { path: { organizationId, role }, body }));
}

async function remove(role: string, place: Place): Promise<void> {
  const { client, organizationId } = await connect(place);
  await client.call("DeleteRole", { path: { organizationId, role } });
  show({ value: { role, deleted: true }, text: `The role ${role} is deleted.`, quiet: role });
}
