import type { operations } from "@stepwell/client";
import type { Command } from "commander";
import { connect, type Place } from "../connection/connection.ts";
import { each, wholeNumber, withLimit } from "../option.ts";
import { ageOf } from "../output/age.ts";
import { listed } from "../output/listed.ts";
import { table } from "../output/table.ts";
import { show, warn } from "../output/terminal.ts";
import { workflowIdOf } from "./workflow.ts";

type NewToken = operations["CreateApiToken"]["requestBody"]["content"]["application/json"];

export function declareToken(program: Command): void {
  const token = program.command("token").description("API tokens, for programs");
  withLimit(token.command("list").description("list the API tokens")).action(listTokens);
  token
    .command("create")
    .argument("<name>")
    .requiredOption(
      "--permission <permission>",
      "what the token may do, such as job:submit; separate several with commas",
      each,
    )
    .option(
      "--expires-in-days <number>",
      "the number of days after which the token expires; the service has a default",
      wholeNumber(1, 3_650),
    )
    .option("--workflow <workflow>", "bind the token to this workflow (name or id); separate several with commas", each)
    .option("--tag <tag>", "bind the token to this tag; separate several with commas", each)
    .description("create an API token and print it; it cannot be printed again")
    .action(create);
  token
    .command("rotate")
    .argument("<tokenId>")
    .option(
      "--overlap <seconds>",
      "how long the previous secret stays valid beside the new one",
      wholeNumber(0, 604_800),
    )
    .description("give an API token a new secret and print the new token; it cannot be printed again")
    .action(rotate);
  token.command("revoke").argument("<tokenId>").description("revoke an API token").action(revoke);
}

async function listTokens({ limit, ...place }: Place & { readonly limit: number }): Promise<void> {
  const { client, organizationId } = await connect(place);
  const path = { organizationId };
  const tokens = await listed(limit, (pageSize) => client.list("ListApiTokens", { path, query: { pageSize } }));
  const rows = tokens.map(({ tokenId, name, tokenPrefix, expiresAt, lastUsedAt }) => [
    tokenId,
    name,
    tokenPrefix,
    lastUsedAt === undefined ? "never" : `${ageOf(lastUsedAt)} ago`,
    expiresAt ?? "never",
  ]);
  const text = rows.length === 0 ? "There is no API token." : table(["ID", "NAME", "PREFIX", "USED", "ENDS"], rows);
  show({ value: tokens, text, quiet: tokens.map(({ tokenId }) => tokenId) });
}

interface CreateOptions extends Place {
  readonly permission: readonly string[];
  readonly expiresInDays?: number;
  readonly workflow?: readonly string[];
  readonly tag?: readonly string[];
}

async function create(name: string, options: CreateOptions): Promise<void> {
  const { permission, expiresInDays, workflow, tag, ...place } = options;
  const connection = await connect(place);
  const { client, organizationId } = connection;
  const boundTo = {
    ...(workflow !== undefined && {
      workflowIds: await Promise.all(workflow.map((one) => workflowIdOf(connection, one))),
    }),
    ...(tag !== undefined && { tags: [...tag] }),
  };
  const body = {
    name,
    permissions: permission as NewToken["permissions"],
    ...(expiresInDays !== undefined && { expiresAt: new Date(Date.now() + expiresInDays * dayMs).toISOString() }),
    ...(Object.keys(boundTo).length > 0 && { boundTo }),
  };
  showOnce(await client.call("CreateApiToken", { path: { organizationId }, body }));
}

const dayMs = 86_400_000;

async function rotate(tokenId: string, { overlap, ...place }: Place & { readonly overlap?: number }): Promise<void> {
  const { client, organizationId } = await connect(place);
  const body = overlap === undefined ? {} : { overlapSeconds: overlap };
  showOnce(await client.call("RotateApiToken", { path: { organizationId, tokenId }, body }));
}

function showOnce(made: { readonly token: string; readonly tokenId: string; readonly expiresAt?: string }): void {
  const { token, tokenId, expiresAt } = made;
  show({ value: made, text: token, quiet: token });
  warn(
    `The token has the id ${tokenId} and is valid ${expiresAt === undefined ? "for ever" : `until ${expiresAt}`}. The token is shown only now.`,
  );
}

async function revoke(tokenId: string, place: Place): Promise<void> {
  const { client, organizationId } = await connect(place);
  await client.call("RevokeApiToken", { path: { organizationId, tokenId } });
  show({ value: { tokenId, revoked: true }, text: `The token ${tokenId} is revoked.`, quiet: tokenId });
}
