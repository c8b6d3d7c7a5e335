import type { components } from "@stepwell/client";
import type { Command } from "commander";
import { type Connection, connect, type Place } from "../connection/connection.ts";
import { CommandError } from "../exit-code.ts";
import { isId } from "../id.ts";
import { each, withLimit } from "../option.ts";
import { listed } from "../output/listed.ts";
import { table } from "../output/table.ts";
import { show, warn } from "../output/terminal.ts";

type Member = components["schemas"]["Member"];

export function declareMember(program: Command): void {
  const member = program.command("member").description("the people of an organization");
  withLimit(member.command("list").description("list the members with their roles"))
    .option("--role <role>", "only members with this role")
    .action(listMembers);
  member
    .command("invite")
    .argument(
      "[email]",
      "the e-mail address of the only person who may accept; without it, anybody who has the link may accept",
    )
    .requiredOption("--role <role>", "a role of the new member; separate several with commas", each)
    .description("invite somebody, and print the link, which is shown only once")
    .action(invite);
  member
    .command("update")
    .argument("<member>", "e-mail address or user id")
    .requiredOption(
      "--role <role>",
      "the roles that replace the member's present ones; separate several with commas",
      each,
    )
    .description("give a member other roles")
    .action(update);
  member
    .command("remove")
    .argument("<member>", "e-mail address or user id")
    .option("--revoke-api-tokens", "also revoke the API tokens that the member created")
    .description("remove a member from the organization")
    .action(remove);
}

interface ListOptions extends Place {
  readonly limit: number;
  readonly role?: string;
}

async function listMembers({ limit, role, ...place }: ListOptions): Promise<void> {
  const members = await membersOf(await connect(place), limit, role);
  const rows = members.map(({ email, displayName, roles, userId }) => [email, displayName, roles.join(", "), userId]);
  const text = rows.length === 0 ? "There is no such member." : table(["E-MAIL", "NAME", "ROLES", "ID"], rows);
  show({ value: members, text, quiet: members.map(({ userId }) => userId) });
}

async function membersOf({ client, organizationId }: Connection, limit: number, role?: string) {
  const path = { organizationId };
  const filter = role === undefined ? {} : { role };
  return await listed(limit, (pageSize) => client.list("ListMembers", { path, query: { ...filter, pageSize } }));
}

async function invite(email: string | undefined, { role, ...place }: Place & { readonly role: readonly string[] }) {
  const { client, organizationId } = await connect(place);
  const body = { roles: [...role], ...(email !== undefined && { email }) };
  const made = await client.call("CreateInvitation", { path: { organizationId }, body });
  show({ value: made, text: made.link, quiet: made.link });
  warn(`The link works once, until ${made.expiresAt}. It is shown only now.`);
}

async function update(named: string, { role, ...place }: Place & { readonly role: readonly string[] }): Promise<void> {
  const connection = await connect(place);
  const { client, organizationId } = connection;
  const path = { organizationId, userId: await userIdOf(connection, named) };
  const member = await client.call("UpdateMember", { path, body: { roles: [...role] } });
  show({ value: member, text: `${member.email} is ${member.roles.join(", ")} now.`, quiet: member.userId });
}

interface RemoveOptions extends Place {
  readonly revokeApiTokens?: boolean;
}

async function remove(named: string, { revokeApiTokens = false, ...place }: RemoveOptions): Promise<void> {
  const connection = await connect(place);
  const { client, organizationId } = connection;
  const userId = await userIdOf(connection, named);
  await client.call("RemoveMember", { path: { organizationId, userId }, query: { revokeApiTokens } });
  show({ value: { userId, removed: true }, text: `${named} is not a member any more.`, quiet: userId });
}

/** Returns the id of a member. People name members by their e-mail addresses, but the service knows them by their ids. */
async function userIdOf(connection: Connection, named: string): Promise<string> {
  if (isId(named)) return named;
  const isNamed = ({ email }: Member) => email.toLowerCase() === named.toLowerCase();
  const member = (await membersOf(connection, maxMembers)).find(isNamed);
  if (member === undefined) throw new CommandError("notFound", `No member has the e-mail address ${named}.`);
  return member.userId;
}

const maxMembers = 100_000;
